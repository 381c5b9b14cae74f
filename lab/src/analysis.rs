//! From trials to effects: which blocks say what, and what is concluded so far.
//!
//! Nothing is remembered between looks: the same trials give the same answer in any order of blocks, before and after a
//! restart.
//!
//! Percentiles are judged like means: each trial's percentile is one value, and the differences of these within blocks
//! are symmetric by the same randomisation, whatever the distribution of latencies or of the percentile itself. So
//! neither a bootstrap nor a model of the tail is needed; what a trial of few accesses cannot tell is simply wider.

mod table;

pub use table::Table;

use crate::design::{Contrast, Open, Plan};
use crate::judge::{Judge, Judgement, percent};
use crate::location::pseudo_median;
use crate::words::{self, Titles};
use protocol::experiment::workloads::IDLE;
use protocol::experiment::{Effect, ExperimentSpec, Finding, Interaction, Metric, Trial};
use protocol::workload::Workload;

/// An experiment's trials so far, and the rules by which they are judged.
#[derive(Debug)]
pub struct Analysis<'a> {
    plan: &'a Plan,
    titles: Titles,
    workloads: Vec<Workload>,
    judge: Judge,
    joint_judge: Judge,
    threshold_percent: f64,
    table: Table,
}

impl<'a> Analysis<'a> {
    /// Of an experiment that has no trials yet. The spec has been validated and `plan` made from it.
    pub fn new(spec: &ExperimentSpec, plan: &'a Plan, titles: Titles) -> Self {
        let workloads = spec.expanded_workloads();
        // Each metric is a family of its own: every comparison times every workload.
        let judge = Judge::new(spec, plan.contrasts.len() * workloads.len());
        let joint_judge = Judge::new(spec, plan.joints.len() * workloads.len());
        let threshold_percent = spec.threshold_percent;
        Self { plan, titles, workloads, judge, joint_judge, threshold_percent, table: Table::default() }
    }

    /// Adds a trial; a void one, or one of a workload that is not in the experiment, changes nothing. A later trial of
    /// the same place replaces an earlier one.
    pub fn add(&mut self, trial: &Trial) {
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

    /// The comparisons that need more blocks. The experiment ends when there are none.
    pub fn open(&self) -> Open {
        let settled = |contrast: usize, workload: usize| {
            let (Some(c), Some(w)) = (self.plan.contrasts.get(contrast), self.workloads.get(workload)) else {
                return true;
            };
            self.judge.is_settled(&self.table.differences(workload, Metric::of(w), &c.weights))
        };
        let mut open = Open::all(self.plan, self.workloads.len());
        open.0.retain(|&(contrast, workload)| !settled(contrast, workload));
        open
    }

    /// What is known of one comparison.
    pub fn judgement(&self, contrast: &Contrast, workload: usize, metric: Metric) -> Judgement {
        self.judge.judge(&self.table.differences(workload, metric, &contrast.weights))
    }

    /// What is known of a comparison on the metric that its verdict rests on, with the configurations that it needs.
    pub(crate) fn primary(&self, contrast: usize, workload: usize) -> Option<(Judgement, &[(usize, f64)])> {
        let (contrast, metric) = (self.plan.contrasts.get(contrast)?, Metric::of(self.workloads.get(workload)?));
        Some((self.judgement(contrast, workload, metric), &contrast.weights))
    }

    /// The threshold on the log scale.
    pub(crate) fn threshold(&self) -> f64 {
        self.judge.threshold()
    }

    /// Every effect on every metric that has been measured, primary ones first for each comparison and workload.
    pub fn effects(&self) -> Vec<Effect> {
        let mut out = Vec::new();
        for contrast in &self.plan.contrasts {
            let saves_w = self.saves_w(contrast);
            for (index, workload) in self.workloads.iter().enumerate() {
                let primary = Metric::of(workload);
                let others = Metric::ALL.into_iter().filter(|m| *m != primary && self.table.has(index, *m));
                for metric in std::iter::once(primary).chain(others) {
                    out.push(self.effect(contrast, index, &workload.label(), metric, metric == primary, saves_w));
                }
            }
            if self.table.has(self.idle(), Metric::IdlePower) {
                out.push(self.effect(contrast, self.idle(), IDLE, Metric::IdlePower, false, saves_w));
            }
        }
        out
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
        let mut effect = Effect {
            knob: contrast.knob.clone(),
            from: contrast.from.clone(),
            to: contrast.to.clone(),
            base: contrast.base,
            stage: None,
            workload: label.to_owned(),
            metric,
            primary,
            estimate_percent: j.estimate.map(percent),
            low_percent: j.interval.map(|(low, _)| percent(low)),
            high_percent: j.interval.map(|(_, high)| percent(high)),
            verdict: j.finding,
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
