//! A check's two stages: every knob alone on many comparisons, then what looks like a brake, anew.
//!
//! # What each stage may say
//!
//! The screening only acquits: a comparison whose whole interval lies within the threshold is *free* for good. Whatever
//! looks like a brake or a help, or is undecided with an estimate beyond the threshold, is measured again in blocks of
//! its own, and its verdict rests on these alone: the luck by which it was picked is not counted again.
//!
//! # Why the error is held
//!
//! The error `1 - confidence` is split: [`SCREENING`] of it for the screening's family (every knob times every workload),
//! the rest for the confirmation's. The first statement, that all screening intervals hold at every look, needs nothing
//! new. For the second let the screening end after block `T`. `T` and the list of suspects depend on earlier trials
//! only, so they are known before the confirmation's first order is drawn; given everything before, each later draw is
//! as fair as ever, and the evidence of each comparison, begun at 1 after block `T`, is a martingale of mean 1 again.
//! Ville's inequality bounds its ever reaching `1 / a` by `a` for each possible `T` and list, hence for the random ones
//! too; the family's size, which sets `a`, is likewise known in time. The union of both bounds is the error allowed, at
//! every look in either stage, whenever somebody stops.
//!
//! # Where the boundary is
//!
//! It follows from the trials: the first block by which every screened comparison was settled, or the last that the
//! screening may have. Nothing else is stored, so a resumed check stands where it stood.

use crate::analysis::Table;
use crate::design::Plan;
use crate::judge::Judge;
use protocol::experiment::{Base, ExperimentSpec, Finding, Metric, Stage};
use std::collections::BTreeSet;

/// The screening's share of the error. It has the larger family by far, and every block of it is dear.
const SCREENING: f64 = 0.8;
/// Most suspects that are also confirmed on top of all other savings: it takes as many configurations again.
const MOST_ON_TOP: usize = 4;

/// The first stage: which comparisons can be left alone?
#[derive(Debug, Clone)]
pub(crate) struct Screening {
    spec: ExperimentSpec,
    judge: Judge,
    /// The metric that each workload's verdict rests on.
    metrics: Vec<Metric>,
    /// Blocks before nothing can be settled, and after which it ends in any case.
    blocks: (u32, u32),
}

/// The second stage: what is measured anew, from which block on, and how it is judged.
#[derive(Debug, Clone)]
pub(crate) struct Confirmation {
    /// Its first block.
    pub(crate) from: u32,
    /// Pairs of a contrast and a workload, by their indices.
    pub(crate) suspects: BTreeSet<(usize, usize)>,
    pub(crate) judge: Judge,
}

impl Screening {
    /// Of a plan that has stages; `None` if it has none.
    pub(crate) fn of(spec: &ExperimentSpec, plan: &Plan, metrics: Vec<Metric>) -> Option<Self> {
        let screened = plan.contrasts.iter().filter(|c| c.stage == Some(Stage::Screening)).count();
        if screened == 0 {
            return None;
        }
        // To acquit, no width is needed.
        let without_width = ExperimentSpec { precision_percent: None, ..spec.clone() };
        let judge = Judge::sharing(&without_width, SCREENING, screened * metrics.len());
        let most = spec.max_blocks - spec.max_blocks / 3;
        Some(Self { spec: spec.clone(), judge, metrics, blocks: (spec.min_blocks.min(most), most) })
    }

    pub(crate) fn judge(&self) -> &Judge {
        &self.judge
    }

    /// Blocks that it has at most.
    pub(crate) fn most(&self) -> u32 {
        self.blocks.1
    }

    /// Whether a comparison needs no more screening after these blocks.
    pub(crate) fn is_settled(&self, plan: &Plan, table: &Table, pair: (usize, usize), blocks: u32) -> bool {
        self.differences(plan, table, pair, blocks).is_none_or(|d| self.judge.quick(&d) != Finding::Undecided)
    }

    fn differences(&self, plan: &Plan, table: &Table, (c, w): (usize, usize), blocks: u32) -> Option<Vec<f64>> {
        let (contrast, metric) = (plan.contrasts.get(c)?, self.metrics.get(w)?);
        Some(table.differences_in(0..blocks, w, *metric, &contrast.weights))
    }

    /// The stage after it, once so many blocks have run that it is over.
    pub(crate) fn end(&self, plan: &Plan, table: &Table, ran: u32) -> Option<Confirmation> {
        let (least, most) = self.blocks;
        let over = |b: &u32| *b == most || self.pairs(plan).all(|pair| self.is_settled(plan, table, pair, *b));
        let from = (least..=ran.min(most)).find(over)?;
        let suspects = self.suspects(plan, table, from, false);
        let judge = Judge::sharing(&self.spec, 1.0 - SCREENING, suspects.len());
        Some(Confirmation { from, suspects, judge })
    }

    /// What would be confirmed if it ended after these blocks; only what is beyond doubt already, if `clear`.
    pub(crate) fn suspects(&self, plan: &Plan, table: &Table, blocks: u32, clear: bool) -> BTreeSet<(usize, usize)> {
        let suspect = |pair: &(usize, usize)| {
            let Some(d) = self.differences(plan, table, *pair, blocks) else { return false };
            let j = self.judge.judge(&d);
            match j.finding {
                Finding::Brake | Finding::Helps => true,
                Finding::Free => false,
                Finding::Undecided => !clear && j.estimate.is_some_and(|e| e.abs() > self.judge.threshold()),
            }
        };
        confirmed(plan, self.pairs(plan).filter(suspect))
    }

    /// The judge of a confirmation of so many comparisons.
    pub(crate) fn least_confirmation(&self, suspects: usize) -> usize {
        Judge::sharing(&self.spec, 1.0 - SCREENING, suspects).least_blocks()
    }

    /// Every comparison that is screened.
    fn pairs(&self, plan: &Plan) -> impl Iterator<Item = (usize, usize)> {
        let screened = plan.contrasts.iter().enumerate().filter(|(_, c)| c.stage == Some(Stage::Screening));
        let contrasts: Vec<_> = screened.map(|(c, _)| c).collect();
        let workloads = self.metrics.len();
        contrasts.into_iter().flat_map(move |c| (0..workloads).map(move |w| (c, w)))
    }
}

/// The comparisons that confirm these screened ones.
pub(crate) fn confirmed(plan: &Plan, screened: impl Iterator<Item = (usize, usize)>) -> BTreeSet<(usize, usize)> {
    let knob = |c: usize| plan.contrasts.get(c).map(|c| c.knob.as_str());
    let screened: Vec<_> = screened.filter_map(|(c, w)| Some((knob(c)?, w))).collect();
    let knobs: BTreeSet<_> = screened.iter().map(|(knob, _)| *knob).collect();
    let on_top = knobs.len() <= MOST_ON_TOP;
    let mut out = BTreeSet::new();
    for (i, c) in plan.contrasts.iter().enumerate() {
        let affordable = on_top || c.base != Some(Base::AllSaving);
        if c.stage == Some(Stage::Confirmation) && affordable {
            out.extend(screened.iter().filter(|(knob, _)| *knob == c.knob).map(|(_, w)| (i, *w)));
        }
    }
    out
}

impl Confirmation {
    /// Which of the comparisons of one knob and workload a reader is to see, by what is found: a brake on either base is
    /// one, and *free* needs both. The lowest rank wins; of equal ones that from all-performance.
    pub(crate) fn rank(finding: Finding, base: Option<Base>) -> (u8, bool) {
        let first = match finding {
            Finding::Brake => 0,
            Finding::Undecided => 1,
            Finding::Helps => 2,
            Finding::Free => 3,
        };
        (first, base == Some(Base::AllSaving))
    }
}
