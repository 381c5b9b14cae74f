//! What the big reading says: a label, one number, and where it comes from.

use super::point::Metric;
use super::run::RunModel;
use crate::format::{self, Quantity};
use protocol::host::TargetKind;
use protocol::run::RunState;

/// The big reading and its companions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    /// What is measured: `RND4K Q32T1 read`.
    pub(crate) label: String,
    /// The number.
    pub(crate) main: Quantity,
    /// The number in base units (B/s, 1/s, ns), for scripts; none while there is none.
    pub(crate) raw: Option<f64>,
    /// Which statistic over what.
    pub(crate) note: String,
    /// The other metrics, named.
    pub(crate) others: Vec<(&'static str, Quantity)>,
    /// It moves.
    pub(crate) live: bool,
}

/// The reading for one group of a run.
pub(crate) fn shown(model: &RunModel, group: usize, metric: Metric) -> Shown {
    let label = model.groups.get(group).map(|g| g.label.clone()).unwrap_or_default();
    if model.is_plan() {
        return planned(model, metric);
    }
    let running = model.running() == Some(group);
    if let Some(layout) = model.layout {
        let main = layout.bw.map_or_else(|| Quantity::unknown("MB/s"), format::throughput);
        return Shown {
            label: "Laying out the file".into(),
            main,
            raw: layout.bw.map(|b| b.0),
            note: format!("{} of {} written", layout.done, layout.total),
            others: Vec::new(),
            live: true,
        };
    }
    if let Some(r) = model.reading().filter(|_| running) {
        let (raw, statistic) = match metric {
            Metric::Throughput => (Some(r.bw), "mean"),
            Metric::Iops => (Some(r.iops), "mean"),
            Metric::Latency => (r.p50.or(r.mean), if r.p50.is_some() { "p50" } else { "mean" }),
        };
        let pass = match model.pass() {
            Some((_, 1)) | None => String::new(),
            Some((n, of)) => format!(" \u{b7} pass {n} of {of}"),
        };
        let warmup = model.step.and_then(|s| model.record.spec.steps.get(s as usize)).is_some_and(|s| s.warmup);
        let aside = if r.ramp {
            ", ramp"
        } else if warmup {
            ", not scored"
        } else {
            ""
        };
        let mut others = companions(metric, Some(r.bw), Some(r.iops), r.p50, "p50");
        others.push(("p99", quantity(Metric::Latency, r.p99)));
        return Shown {
            label,
            main: quantity(metric, raw),
            raw,
            note: format!("{statistic} of the last {:.1}\u{a0}s{pass}{aside}", r.seconds),
            others,
            live: true,
        };
    }
    let value = model.values.get(group).and_then(Option::as_ref);
    let raw = model.value(group, metric);
    let note = match (value, model.record.state) {
        (Some(v), _) if metric == Metric::Latency && v.statistic.starts_with("best") => {
            format!("mean, lowest of {}", v.statistic.trim_start_matches("best of "))
        }
        (Some(v), _) if metric == Metric::Latency => format!("mean, {}", v.statistic),
        (Some(v), _) => v.statistic.clone(),
        (None, RunState::Running) if running => "starting".into(),
        (None, RunState::Running) if model.step.is_none() => "preparing".into(),
        (None, RunState::Queued) => "waits for another run to end".into(),
        _ => "not measured".into(),
    };
    let others = match value {
        Some(v) => companions(metric, Some(v.bw), Some(v.iops), v.latency, "mean latency"),
        None => Vec::new(),
    };
    Shown { label, main: quantity(metric, raw), raw, note, others, live: false }
}

/// What a run would be.
fn planned(model: &RunModel, metric: Metric) -> Shown {
    let spec = &model.record.spec;
    let tests = match model.groups.len() {
        1 => "1 test".to_owned(),
        n => format!("{n} tests"),
    };
    let layout = match model.record.target.kind {
        TargetKind::Directory => format!(", and first the time to lay out {}", spec.file_size()),
        TargetKind::File | TargetKind::BlockDevice => String::new(),
    };
    Shown {
        label: spec.title(),
        main: Quantity::unknown(metric.unit()),
        raw: None,
        note: format!("{tests}, {}{layout}", format::about(spec.duration().as_f64())),
        others: Vec::new(),
        live: false,
    }
}

fn quantity(metric: Metric, raw: Option<f64>) -> Quantity {
    raw.map_or_else(|| Quantity::unknown(metric.unit()), |v| metric.format(v))
}

fn companions(
    main: Metric,
    bw: Option<f64>,
    iops: Option<f64>,
    latency: Option<f64>,
    latency_name: &'static str,
) -> Vec<(&'static str, Quantity)> {
    let all = [
        (Metric::Throughput, "throughput", bw),
        (Metric::Iops, "accesses", iops),
        (Metric::Latency, latency_name, latency),
    ];
    all.into_iter().filter(|(m, ..)| *m != main).map(|(m, name, v)| (name, quantity(m, v))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::fixture;

    #[test]
    fn a_number_always_says_which_statistic_it_is() {
        let mut model = RunModel::new(fixture::record(3));
        assert_eq!(shown(&model, 0, Metric::Throughput).raw, None);
        (1..=20).for_each(|i| model.sample(fixture::sample(1, i)));
        let s = shown(&model, 0, Metric::Iops);
        assert_eq!(s.note, "mean of the last 1.0\u{a0}s \u{b7} pass 2 of 3");
        assert!((s.raw.unwrap() - 200.0).abs() < 1e-6);
        assert!(shown(&model, 0, Metric::Latency).note.starts_with("p50"));
        for (step, bw) in [(0, 10.0), (1, 30.0), (2, 20.0)] {
            model.finish_step(fixture::result(step, bw));
        }
        model.record.state = RunState::Done;
        model.finish();
        let s = shown(&model, 0, Metric::Throughput);
        assert_eq!((s.note.as_str(), s.raw, s.live), ("median of 3", Some(20.0), false));
    }
}
