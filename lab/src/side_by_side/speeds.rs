//! Speeds, workload by workload.

use crate::Summary;
use crate::compare::compare;
use protocol::experiment::side_by_side::{Change, SpeedCell, SpeedRow};
use protocol::experiment::{ExperimentFile, Metric, Trial};
use protocol::workload::Workload;
use std::collections::{BTreeMap, BTreeSet};

/// The trials that count, by workload and configuration.
type Trials<'a> = BTreeMap<(&'a str, usize), Vec<&'a Trial>>;

struct Measured<'a> {
    file: &'a ExperimentFile,
    trials: Trials<'a>,
}

impl<'a> Measured<'a> {
    fn of(file: &'a ExperimentFile) -> Self {
        let mut trials = Trials::new();
        for t in file.report.trials.iter().filter(|t| t.void.is_none()) {
            if let Ok(configuration) = usize::try_from(t.configuration) {
                trials.entry((t.workload.as_str(), configuration)).or_default().push(t);
            }
        }
        Self { file, trials }
    }

    /// Configurations of this workload, with their names.
    fn configurations(&self, workload: &str) -> impl Iterator<Item = (usize, &'a str)> {
        let all = self.file.experiment.configurations.iter().enumerate();
        all.filter(move |(i, _)| self.trials.contains_key(&(workload, *i))).map(|(i, c)| (i, c.name.as_str()))
    }

    fn named(&self, workload: &str, name: &str) -> Option<usize> {
        self.configurations(workload).find(|(_, n)| *n == name).map(|(i, _)| i)
    }

    /// The configuration in which the workload did best, by the median.
    fn fastest(&self, workload: &str, metric: Metric) -> Option<usize> {
        let performance = |c: usize| {
            let median = Summary::of(&self.values(workload, c, metric))?.median;
            Some(if metric.more_is_better() { median } else { -median })
        };
        let all = self.configurations(workload).filter_map(|(c, _)| Some((c, performance(c)?)));
        all.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(c, _)| c)
    }

    fn values(&self, workload: &str, configuration: usize, metric: Metric) -> Vec<f64> {
        let trials = self.trials.get(&(workload, configuration)).map(Vec::as_slice).unwrap_or_default();
        trials.iter().filter_map(|t| t.metrics.get(&metric).copied()).collect()
    }
}

/// A row for each workload and each configuration that two sides or more have by the same name; where there is none, one
/// for the fastest of each side. Nothing is held against the first side where that is `forbidden`.
pub(super) fn rows(files: &[ExperimentFile], forbidden: bool) -> Vec<SpeedRow> {
    let sides: Vec<_> = files.iter().map(Measured::of).collect();
    let workloads: Vec<Workload> = files.iter().flat_map(|f| f.experiment.spec.expanded_workloads()).collect();
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for workload in &workloads {
        let (label, metric) = (workload.label(), Metric::of(workload));
        if !seen.insert(label.clone()) {
            continue;
        }
        let mut names: Vec<&str> = Vec::new();
        for (_, name) in sides.iter().flat_map(|s| s.configurations(&label)) {
            let shared = sides.iter().filter(|s| s.named(&label, name).is_some()).count() > 1;
            if shared && !names.contains(&name) {
                names.push(name);
            }
        }
        let mut row = |configuration: Option<&str>, picks: Vec<Option<usize>>| {
            if picks.iter().all(Option::is_none) {
                return;
            }
            let cells = cells(&sides, &label, metric, &picks, forbidden);
            out.push(SpeedRow { workload: label.clone(), configuration: configuration.map(Into::into), cells });
        };
        if names.is_empty() {
            row(None, sides.iter().map(|s| s.fastest(&label, metric)).collect());
        }
        for name in names {
            row(Some(name), sides.iter().map(|s| s.named(&label, name)).collect());
        }
    }
    out
}

fn cells(
    sides: &[Measured<'_>],
    label: &str,
    metric: Metric,
    picks: &[Option<usize>],
    forbidden: bool,
) -> Vec<Option<SpeedCell>> {
    let values = |n: usize| Some(sides.get(n)?.values(label, (*picks.get(n)?)?, metric));
    let first = values(0).filter(|_| !forbidden);
    let mut out = Vec::new();
    for (n, (side, pick)) in sides.iter().zip(picks).enumerate() {
        let cell = pick.map(|configuration| SpeedCell {
            against_first: first.as_ref().filter(|_| n > 0).zip(values(n)).and_then(|(a, b)| change(metric, a, &b)),
            ..cell(side, label, configuration)
        });
        out.push(cell);
    }
    out
}

fn cell(side: &Measured<'_>, label: &str, configuration: usize) -> SpeedCell {
    let trials = side.trials.get(&(label, configuration)).map(Vec::as_slice).unwrap_or_default();
    let median = |of: &dyn Fn(&Trial) -> Option<f64>| {
        Summary::of(&trials.iter().filter_map(|t| of(t)).collect::<Vec<_>>()).map(|s| s.median)
    };
    let metric = |metric: Metric| median(&|t| t.metrics.get(&metric).copied());
    let record = &side.file.experiment;
    let ceiling = record.drive.as_ref().and_then(|d| d.link.as_ref()?.ceiling).map(|c| c.0).filter(|c| *c > 0.0);
    let bytes_per_second = metric(Metric::Bw);
    // A second has 1e9 ns of each CPU.
    let cpu = |t: &Trial| Some(t.metrics.get(&Metric::CpuPerIo)? * t.metrics.get(&Metric::Iops)? / 1e9 * 100.0);
    SpeedCell {
        configuration: record.configurations.get(configuration).map(|c| c.name.clone()).unwrap_or_default(),
        n: u32::try_from(trials.len()).unwrap_or(u32::MAX),
        bytes_per_second,
        iops: metric(Metric::Iops),
        latency_ns: metric(Metric::LatencyMean),
        share: bytes_per_second.zip(ceiling).map(|(speed, ceiling)| speed / ceiling),
        cpu_percent: median(&cpu),
        against_first: None,
    }
}

/// Performance of the second over that of the first.
fn change(metric: Metric, first: &[f64], second: &[f64]) -> Option<Change> {
    let (first, second) = if metric.more_is_better() { (first, second) } else { (second, first) };
    let c = compare(first, second)?;
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    Some(Change {
        estimate_percent: percent(c.ratio),
        low_percent: c.interval.map(|(low, _)| percent(low)),
        high_percent: c.interval.map(|(_, high)| percent(high)),
    })
}
