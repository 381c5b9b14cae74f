//! Trials by configuration and workload; what an effect is made of.

use crate::experiment::plan_of;
use lab::analysis::Table;
use lab::design::{Contrast, Plan};
use lab::judge;
use lab::summary::Summary;
use lab::words::Titles;
use protocol::experiment::{Configuration, Effect, ExperimentFile, Metric, Trial};
use std::collections::BTreeMap;

/// An experiment, looked at from the sides that charts need.
pub(super) struct Data<'a> {
    pub(super) file: &'a ExperimentFile,
    pub(super) titles: Titles,
    /// Names of the workloads that effects are about, each with the metric that its verdict rests on.
    pub(super) workloads: Vec<(&'a str, Metric)>,
    /// `None` where this version of the program would plan it otherwise.
    plan: Option<Plan>,
    table: Table,
}

/// Accesses beyond a percentile without which it is not shown.
const BEYOND: f64 = 3.5;

/// Latency percentiles of a set of configurations: the percentile, and the median over trials in ns.
pub(super) type Quantiles = Vec<(f64, f64)>;

impl<'a> Data<'a> {
    pub(super) fn of(file: &'a ExperimentFile) -> Self {
        let mut workloads: Vec<(&str, Metric)> = Vec::new();
        for e in file.report.effects.iter().filter(|e| e.primary) {
            if !workloads.iter().any(|(name, _)| *name == e.workload) {
                workloads.push((&e.workload, e.metric));
            }
        }
        let mut data = Self {
            file,
            titles: Titles::of(&file.experiment.knobs),
            workloads,
            plan: plan_of(&file.experiment).ok(),
            table: Table::default(),
        };
        let mut table = Table::default();
        for t in data.counted() {
            if let Some(workload) = data.workloads.iter().position(|(name, _)| *name == t.workload) {
                for (metric, value) in &t.metrics {
                    table.put(workload, *metric, t.block, t.configuration as usize, *value);
                }
            }
        }
        data.table = table;
        data
    }

    pub(super) fn configurations(&self) -> &'a [Configuration] {
        &self.file.report.configurations
    }

    /// Name of a configuration.
    pub(super) fn name(&self, configuration: usize) -> &'a str {
        self.configurations().get(configuration).map_or("?", |c| &c.name)
    }

    /// Trials that count.
    pub(super) fn counted(&self) -> impl Iterator<Item = &'a Trial> + use<'a> {
        let known = self.file.report.configurations.len();
        self.file.report.trials.iter().filter(move |t| t.void.is_none() && (t.configuration as usize) < known)
    }

    /// What the trials of a workload under a configuration yielded.
    pub(super) fn values(&self, configuration: usize, workload: &str, metric: Metric) -> Vec<f64> {
        let here = self.counted().filter(|t| t.configuration as usize == configuration && t.workload == workload);
        here.filter_map(|t| t.metrics.get(&metric).copied()).filter(|v| v.is_finite() && *v > 0.0).collect()
    }

    /// The differences within blocks that an effect rests on, in percent; none where they cannot be made again.
    pub(super) fn differences(&self, e: &Effect) -> Vec<f64> {
        let Some(contrast) = self.contrast(e) else { return Vec::new() };
        let Some(workload) = self.workloads.iter().position(|(name, _)| *name == e.workload) else { return Vec::new() };
        let all = self.table.differences(workload, e.metric, &contrast.weights);
        let rests_on_all = all.len() == e.blocks as usize;
        if rests_on_all { all.into_iter().map(judge::percent).collect() } else { Vec::new() }
    }

    fn contrast(&self, e: &Effect) -> Option<&Contrast> {
        let contrasts = &self.plan.as_ref()?.contrasts;
        contrasts.iter().find(|c| c.knob == e.knob && c.from == e.from && c.to == e.to && c.base == e.base)
    }

    /// The configurations with the value in question, and those with the value compared with.
    pub(super) fn sides(&self, e: &Effect) -> Option<(Vec<usize>, Vec<usize>)> {
        let weights = &self.contrast(e)?.weights;
        let side = |sign: f64| weights.iter().filter(|(_, w)| w * sign > 0.0).map(|(c, _)| *c).collect::<Vec<_>>();
        Some((side(1.0), side(-1.0)))
    }

    /// Latency percentiles of a workload, each the median over trials. A percentile that fewer than [`BEYOND`] accesses
    /// of a trial lie beyond is left out: it would be little more than the worst case.
    pub(super) fn quantiles(&self, configurations: &[usize], workload: &str) -> Quantiles {
        let here = |t: &&Trial| t.workload == workload && configurations.contains(&(t.configuration as usize));
        let seconds = self.seconds(workload);
        // Bits of positive numbers are in the order of the numbers.
        let mut by: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for trial in self.counted().filter(here) {
            let accesses = trial.metrics.get(&Metric::Iops).map_or(0.0, |iops| iops * seconds);
            let known = |p: f64| (0.0..100.0).contains(&p) && accesses * (1.0 - p / 100.0) >= BEYOND;
            for (p, ns) in trial.latency.iter().filter(|(p, ns)| known(*p) && ns.0 > 0) {
                by.entry(p.to_bits()).or_default().push(ns.0 as f64);
            }
        }
        by.into_iter().filter_map(|(p, values)| Some((f64::from_bits(p), Summary::of(&values)?.median))).collect()
    }

    /// Measured time of a trial in s.
    fn seconds(&self, workload: &str) -> f64 {
        let all = self.file.report.spec.expanded_workloads();
        all.iter().find(|w| w.label() == workload).map_or(0.0, |w| w.runtime.as_f64())
    }
}
