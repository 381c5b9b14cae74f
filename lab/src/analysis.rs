//! From trials to effects: which blocks say what, and what is concluded so far.
//!
//! Nothing is remembered between looks: the same trials give the same answer in any order of blocks, before and after a
//! restart. (In a design with stages the blocks of each stage may change places; which stage a block belongs to, its
//! number says.)
//!
//! Percentiles are judged like means: each trial's percentile is one value, and the differences of these within blocks
//! are symmetric by the same randomisation, whatever the distribution of latencies or of the percentile itself. So
//! neither a bootstrap nor a model of the tail is needed; what a trial of few accesses cannot tell is simply wider.

mod table;

pub use table::Table;

use crate::design::{Contrast, Open, Plan};
use crate::judge::{Judge, Judgement, percent};
use crate::location::pseudo_median;
use crate::stages::{self, Confirmation, Screening};
use crate::words::{self, Titles};
use protocol::experiment::workloads::IDLE;
use protocol::experiment::{Effect, ExperimentSpec, Finding, Interaction, Metric, Stage, Trial};
use protocol::workload::Workload;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// An experiment's trials so far, and the rules by which they are judged.
#[derive(Debug)]
pub struct Analysis<'a> {
    plan: &'a Plan,
    titles: Titles,
    workloads: Vec<Workload>,
    judge: Judge,
    joint_judge: Judge,
    threshold_percent: f64,
    max_blocks: u32,
    table: Table,
    /// Blocks of which there are trials, from the first to the last.
    blocks: u32,
    screening: Option<Screening>,
    /// What follows the screening, if it is over; worked out once for the trials there are.
    confirmation: OnceCell<Option<Confirmation>>,
}

impl<'a> Analysis<'a> {
    /// Of an experiment that has no trials yet. The spec has been validated and `plan` made from it.
    pub fn new(spec: &ExperimentSpec, plan: &'a Plan, titles: Titles) -> Self {
        let workloads = spec.expanded_workloads();
        // Each metric is a family of its own: every comparison times every workload.
        let judge = Judge::new(spec, plan.contrasts.len() * workloads.len());
        let joint_judge = Judge::new(spec, plan.joints.len() * workloads.len());
        let screening = Screening::of(spec, plan, workloads.iter().map(Metric::of).collect());
        Self {
            plan,
            titles,
            workloads,
            judge,
            joint_judge,
            threshold_percent: spec.threshold_percent,
            max_blocks: spec.max_blocks,
            table: Table::default(),
            blocks: 0,
            screening,
            confirmation: OnceCell::new(),
        }
    }

    /// Adds a trial; a void one, or one of a workload that is not in the experiment, changes nothing. A later trial of
    /// the same place replaces an earlier one.
    pub fn add(&mut self, trial: &Trial) {
        self.blocks = self.blocks.max(trial.block.saturating_add(1));
        self.confirmation = OnceCell::new();
        let index = self.workloads.iter().position(|w| w.label() == trial.workload);
        let workload = index.or_else(|| (trial.workload == IDLE).then_some(self.idle()));
        if let (Some(workload), None) = (workload, &trial.void) {
            for (metric, value) in &trial.metrics {
                self.table.put(workload, *metric, trial.block, trial.configuration as usize, *value);
            }
        }
    }

    /// Number of the idle trials' place, after all workloads.
    fn idle(&self) -> usize {
        self.workloads.len()
    }

    /// The stage that the next block belongs to, in a design with stages.
    pub fn stage(&self) -> Option<Stage> {
        self.screening.as_ref()?;
        Some(if self.confirmation().is_some() { Stage::Confirmation } else { Stage::Screening })
    }

    fn confirmation(&self) -> Option<&Confirmation> {
        let end = || self.screening.as_ref()?.end(self.plan, &self.table, self.blocks);
        self.confirmation.get_or_init(end).as_ref()
    }

    /// The comparisons that need more blocks. The experiment ends when there are none.
    pub fn open(&self) -> Open {
        match (&self.screening, self.confirmation()) {
            (Some(_), Some(confirmation)) => self.unconfirmed(confirmation),
            (Some(screening), None) => {
                let mut open = Open::all(self.plan, self.workloads.len());
                open.0.retain(|pair| !screening.is_settled(self.plan, &self.table, *pair, self.blocks));
                open
            }
            (None, _) => {
                let mut open = Open::all(self.plan, self.workloads.len());
                open.0.retain(|&(contrast, workload)| !self.is_settled(contrast, workload, &self.judge));
                open
            }
        }
    }

    fn is_settled(&self, contrast: usize, workload: usize, judge: &Judge) -> bool {
        let (Some(c), Some(w)) = (self.plan.contrasts.get(contrast), self.workloads.get(workload)) else {
            return true;
        };
        judge.is_settled(&self.differences(c, workload, Metric::of(w)))
    }

    /// A suspect that is a brake on one base needs no more blocks on the other.
    fn unconfirmed(&self, confirmation: &Confirmation) -> Open {
        let unsettled = |(c, w): &&(usize, usize)| !self.is_settled(*c, *w, &confirmation.judge);
        let open: Vec<_> = confirmation.suspects.iter().filter(unsettled).collect();
        let knob = |c: usize| self.plan.contrasts.get(c).map(|c| &c.knob);
        let is_brake = |(c, w): &(usize, usize)| {
            self.primary(*c, *w).is_some_and(|(j, _)| j.finding == Finding::Brake && j.settled)
        };
        let elsewhere = |(c, w): &(usize, usize)| {
            let same = |other: &&(usize, usize)| other.1 == *w && other.0 != *c && knob(other.0) == knob(*c);
            confirmation.suspects.iter().filter(same).any(is_brake)
        };
        Open(open.into_iter().filter(|pair| !elsewhere(pair)).copied().collect())
    }

    /// What is known of one comparison.
    pub fn judgement(&self, contrast: &Contrast, workload: usize, metric: Metric) -> Judgement {
        let judge = match contrast.stage {
            None => &self.judge,
            Some(Stage::Screening) => self.screening.as_ref().map_or(&self.judge, Screening::judge),
            Some(Stage::Confirmation) => self.confirmation().map_or(&self.judge, |c| &c.judge),
        };
        judge.judge(&self.differences(contrast, workload, metric))
    }

    /// The differences of the blocks that speak for a comparison: those of its stage.
    fn differences(&self, contrast: &Contrast, workload: usize, metric: Metric) -> Vec<f64> {
        let boundary = self.confirmation().map_or(u32::MAX, |c| c.from);
        let blocks = match contrast.stage {
            None => 0..u32::MAX,
            Some(Stage::Screening) => 0..boundary,
            Some(Stage::Confirmation) => boundary..u32::MAX,
        };
        self.table.differences_in(blocks, workload, metric, &contrast.weights)
    }

    /// What is known of a comparison on the metric that its verdict rests on, with the configurations that it needs.
    pub(crate) fn primary(&self, contrast: usize, workload: usize) -> Option<(Judgement, &[(usize, f64)])> {
        let (contrast, metric) = (self.plan.contrasts.get(contrast)?, Metric::of(self.workloads.get(workload)?));
        Some((self.judgement(contrast, workload, metric), &contrast.weights))
    }

    /// Why no verdict can come of this experiment, however clear its differences are; none if one can.
    pub fn too_few(&self) -> Option<String> {
        let (judge, most) = match &self.screening {
            Some(screening) => (screening.judge(), screening.most()),
            None => (&self.judge, self.max_blocks),
        };
        let least = u32::try_from(judge.least_blocks()).unwrap_or(u32::MAX);
        if least <= most {
            return None;
        }
        // The screening has two thirds of all blocks.
        let all = if self.screening.is_some() { least.saturating_mul(3).saturating_sub(1) / 2 } else { least };
        let (all, most) = (words::blocks(all), words::blocks(self.max_blocks));
        Some(format!("No verdict is possible within {most}: it takes {all} at least. Set max_blocks to more."))
    }

    /// Of at most so many blocks after so many, those that the present stage may still have.
    pub(crate) fn blocks_left(&self, done: u32, max_blocks: u32) -> u32 {
        let most = match (&self.screening, self.confirmation()) {
            (Some(screening), None) => screening.most(),
            _ => max_blocks,
        };
        most.min(max_blocks).saturating_sub(done)
    }

    /// While a screening is on: the trials that a confirmation would take in each of its blocks, and about how many
    /// blocks, if only what is clear now were confirmed, if it ended now, and if all that is open were, to the last block.
    pub(crate) fn confirmation_ahead(&self, max_blocks: u32) -> [usize; 3] {
        let (Some(screening), None) = (&self.screening, self.confirmation()) else { return [0; 3] };
        let trials = |pairs: BTreeSet<(usize, usize)>, blocks: usize| {
            if pairs.is_empty() { 0 } else { Open(pairs).needed(self.plan).len() * blocks }
        };
        let clear = screening.suspects(self.plan, &self.table, self.blocks, true);
        let likely = screening.suspects(self.plan, &self.table, self.blocks, false);
        let open = stages::confirmed(self.plan, self.open().0.into_iter());
        let least = |pairs: &BTreeSet<_>| screening.least_confirmation(pairs.len());
        let (first, second) = (least(&clear), least(&likely));
        let others = max_blocks.saturating_sub(screening.most()) as usize;
        let most = trials(open.union(&likely).copied().collect(), others.max(second));
        let likely = trials(likely, second);
        [trials(clear, first).min(likely), likely, most.max(likely)]
    }

    /// The threshold on the log scale.
    pub(crate) fn threshold(&self) -> f64 {
        self.judge.threshold()
    }

    /// Every effect on every metric that has been measured, primary ones first for each comparison and workload.
    ///
    /// In a design with stages exactly one effect of each knob and workload is primary: the screening's, or of what was
    /// measured anew the confirmation's.
    pub fn effects(&self) -> Vec<Effect> {
        let mut out = Vec::new();
        for (place, contrast) in self.plan.contrasts.iter().enumerate() {
            let saves_w = self.saves_w(contrast);
            let mut any = false;
            for (index, workload) in self.workloads.iter().enumerate() {
                if !self.is_in_question(place, index) {
                    continue;
                }
                any = true;
                let primary = Metric::of(workload);
                let others = Metric::ALL.into_iter().filter(|m| *m != primary && self.table.has(index, *m));
                for metric in std::iter::once(primary).chain(others) {
                    let is_primary = metric == primary && self.is_final(place, index, metric);
                    out.push(self.effect(contrast, index, &workload.label(), metric, is_primary, saves_w));
                }
            }
            if any && self.table.has(self.idle(), Metric::IdlePower) {
                out.push(self.effect(contrast, self.idle(), IDLE, Metric::IdlePower, false, saves_w));
            }
        }
        out
    }

    /// Whether a comparison is made at all: a confirmation only of what looked like a brake.
    fn is_in_question(&self, contrast: usize, workload: usize) -> bool {
        let of = self.plan.contrasts.get(contrast);
        of.is_some_and(|c| c.stage != Some(Stage::Confirmation))
            || self.confirmation().is_some_and(|c| c.suspects.contains(&(contrast, workload)))
    }

    /// Whether a comparison is the one that the verdict of its knob on a workload rests on.
    fn is_final(&self, contrast: usize, workload: usize, metric: Metric) -> bool {
        let Some(of) = self.plan.contrasts.get(contrast) else { return false };
        let Some(confirmation) = self.confirmation() else { return true };
        let anew = confirmation.suspects.iter().filter(|(_, w)| *w == workload);
        let ranked = anew.filter_map(|(c, _)| {
            let other = self.plan.contrasts.get(*c).filter(|other| other.knob == of.knob)?;
            Some((Confirmation::rank(self.judgement(other, workload, metric).finding, other.base), *c))
        });
        match (of.stage, ranked.min()) {
            (Some(Stage::Screening), best) => best.is_none(),
            (_, best) => best.is_none_or(|(_, c)| c == contrast),
        }
    }

    fn effect(
        &self,
        contrast: &Contrast,
        workload: usize,
        label: &str,
        metric: Metric,
        primary: bool,
        saves_w: Option<f64>,
    ) -> Effect {
        let j = self.judgement(contrast, workload, metric);
        // A screening does not accuse; power at idle is what it is.
        let accuses = matches!(j.finding, Finding::Brake | Finding::Helps) && metric != Metric::IdlePower;
        let only_seems = accuses && contrast.stage == Some(Stage::Screening);
        let mut effect = Effect {
            knob: contrast.knob.clone(),
            from: contrast.from.clone(),
            to: contrast.to.clone(),
            base: contrast.base,
            stage: contrast.stage,
            workload: label.to_owned(),
            metric,
            primary,
            estimate_percent: j.estimate.map(percent),
            low_percent: j.interval.map(|(low, _)| percent(low)),
            high_percent: j.interval.map(|(_, high)| percent(high)),
            verdict: if only_seems { Finding::Undecided } else { j.finding },
            blocks: u32::try_from(j.blocks).unwrap_or(u32::MAX),
            saves_w,
            more_blocks: j.more_blocks,
            sentence: String::new(),
        };
        effect.sentence = words::effect(&effect, &self.titles, self.threshold_percent);
        effect
    }

    /// Power that the saving value saves at idle, in W: the median difference within blocks.
    fn saves_w(&self, contrast: &Contrast) -> Option<f64> {
        let [(to, _), (from, _)] = contrast.weights[..] else { return None };
        pseudo_median(&self.table.plain_differences(self.idle(), Metric::IdlePower, from, to))
    }

    /// What knobs do together, on the metrics that verdicts rest on.
    pub fn interactions(&self) -> Vec<Interaction> {
        let mut out = Vec::new();
        for joint in &self.plan.joints {
            for (index, workload) in self.workloads.iter().enumerate() {
                let metric = Metric::of(workload);
                let j = self.joint_judge.judge(&self.table.differences(index, metric, &joint.weights));
                let mut interaction = Interaction {
                    knobs: joint.knobs.clone(),
                    workload: workload.label(),
                    metric,
                    estimate_percent: j.estimate.map(percent),
                    low_percent: j.interval.map(|(low, _)| percent(low)),
                    high_percent: j.interval.map(|(_, high)| percent(high)),
                    matters: matches!(j.finding, Finding::Brake | Finding::Helps),
                    sentence: None,
                };
                interaction.sentence = words::interaction(&interaction, &self.titles);
                out.push(interaction);
            }
        }
        out
    }
}
