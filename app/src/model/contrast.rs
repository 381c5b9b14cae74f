//! Two runs side by side: same rows, and by how much they differ.

use super::group::{Group, GroupValue};
use super::point::Metric;
use super::run::RunModel;
use crate::format;
use lab::Comparison;
use protocol::result::StepResult;

/// One row: a test, as both runs measured it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contrast {
    /// The test.
    pub(crate) label: String,
    /// The value of A with its statistic.
    pub(crate) a: Option<(f64, String)>,
    /// The value of B.
    pub(crate) b: Option<(f64, String)>,
    /// B against A over all scored passes.
    pub(crate) difference: Option<Comparison>,
}

/// All rows, in the order of A, then what only B has.
pub(crate) fn contrasts(a: &RunModel, b: &RunModel, metric: Metric) -> Vec<Contrast> {
    let mut labels: Vec<&str> = Vec::new();
    for group in a.groups.iter().chain(&b.groups) {
        if !labels.contains(&group.label.as_str()) {
            labels.push(&group.label);
        }
    }
    let row = |label: &str| {
        let (left, right) = (side(a, label, metric), side(b, label, metric));
        Contrast {
            label: label.to_owned(),
            difference: left.as_ref().zip(right.as_ref()).and_then(|(l, r)| lab::compare(&l.1, &r.1)),
            a: left.map(|s| s.0),
            b: right.map(|s| s.0),
        }
    };
    labels.into_iter().map(row).collect()
}

/// A run's value for a test, and the values of its scored passes. The value is the one that the difference is made
/// of, so that the three agree; a preset's own score is on the page of its run.
fn side(model: &RunModel, label: &str, metric: Metric) -> Option<((f64, String), Vec<f64>)> {
    let index = model.groups.iter().position(|g| g.label == label)?;
    let (group, value): (&Group, &GroupValue) = (model.groups.get(index)?, model.values.get(index)?.as_ref()?);
    let of = |r: &StepResult| match metric {
        Metric::Throughput => Some(r.bw().0),
        Metric::Iops => Some(r.iops().0),
        Metric::Latency => r.mean_latency_ns(),
    };
    let passes: Vec<f64> = group.scored(&model.record.results).filter_map(of).collect();
    Some(match passes.len() {
        0 | 1 => ((model.value(index, metric)?, value.statistic.clone()), passes),
        n => {
            let mean = (passes.iter().map(|v| v.ln()).sum::<f64>() / n as f64).exp();
            ((mean, format!("geometric mean of {n}")), passes)
        }
    })
}

/// A difference in words: the change, its interval, and on how many passes it stands.
pub(crate) fn in_words(c: &Comparison) -> (String, String) {
    let n = format!("n = {} and {}", c.n_first, c.n_second);
    let detail = match c.interval {
        Some((low, high)) => format!("{} to {}, {n}", format::change(low), format::change(high)),
        None => format!("no interval, {n}"),
    };
    (format::change(c.ratio), detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::fixture;

    fn run(bw: &[f64]) -> RunModel {
        let mut model = RunModel::new(fixture::record(u32::try_from(bw.len()).unwrap()));
        (0..).zip(bw).for_each(|(i, bw)| model.finish_step(fixture::result(i, *bw)));
        model
    }

    #[test]
    fn repetitions_give_a_difference_with_an_interval() {
        let (a, b) = (run(&[100.0, 101.0, 99.0]), run(&[120.0, 121.0, 119.0]));
        let rows = contrasts(&a, &b, Metric::Throughput);
        let difference = rows[0].difference.unwrap();
        assert!(difference.differs() && (difference.ratio - 1.2).abs() < 0.01);
        let (a, statistic) = rows[0].a.clone().unwrap();
        assert!((a - (100.0f64 * 101.0 * 99.0).cbrt()).abs() < 1e-9 && statistic == "geometric mean of 3");
        let (b, ratio) = (rows[0].b.clone().unwrap().0, rows[0].difference.as_ref().unwrap().ratio);
        assert!((b / a - ratio).abs() < 1e-9, "the three numbers of a row agree");
        let (change, detail) = in_words(&difference);
        assert!(change == "+20.0\u{a0}%" && detail.ends_with("n = 3 and 3"), "{change} {detail}");
    }

    #[test]
    fn single_runs_have_no_interval_and_missing_ones_no_difference() {
        let rows = contrasts(&run(&[100.0]), &run(&[50.0]), Metric::Throughput);
        assert!(in_words(&rows[0].difference.unwrap()).1.starts_with("no interval"));
        let none = RunModel::new(fixture::record(1));
        let rows = contrasts(&run(&[100.0]), &none, Metric::Throughput);
        assert!(rows[0].b.is_none() && rows[0].difference.is_none());
    }
}
