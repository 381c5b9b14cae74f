//! Workloads of one's own: a row for each direction of each repetition, and the median of several.

use crate::cli::output::shown;
use crate::cli::table::{Table, micros, number, whole};
use lab::Summary;
use protocol::result::{Direction, StepResult};
use protocol::run::RunRecord;
use protocol::units::Nanos;

const COLUMNS: [&str; 9] = ["", "MB/s", "IOPS", "mean us", "p50 us", "p99 us", "p99.9 us", "max us", "CPU us/IO"];

pub(super) fn text(record: &RunRecord) -> String {
    let mut table = Table::new(&COLUMNS);
    for result in &record.results {
        rows(record, result, &mut table);
    }
    for (label, results) in groups(record) {
        if results.len() > 1 {
            medians(&label, &results, &mut table);
        }
    }
    if record.results.is_empty() {
        return "Nothing was measured.\n".into();
    }
    table.render()
}

/// Label of a step, with its repetition where there are several.
fn label(record: &RunRecord, result: &StepResult) -> String {
    let Some(step) = record.spec.steps.get(result.step as usize) else { return String::new() };
    let several = record.spec.steps.iter().any(|s| s.repetition > 1);
    let pass = if several { format!(" #{}", step.repetition) } else { String::new() };
    format!("{}{pass}", shown(&step.workload.label()))
}

fn rows(record: &RunRecord, result: &StepResult, table: &mut Table) {
    let label = label(record, result);
    let both = result.read.is_some() && result.write.is_some();
    let parts = [("read", &result.read), ("write", &result.write)];
    for (name, direction) in parts.into_iter().filter_map(|(n, d)| Some((n, d.as_ref()?))) {
        let name = if both { format!("{label}, {name}") } else { label.clone() };
        table.row(row(name, direction, result.cpu.per_io_ns));
    }
    if result.read.is_none() && result.write.is_none() {
        table.row([label, "no access completed".into()]);
    }
}

fn row(name: String, d: &Direction, cpu_ns: f64) -> Vec<String> {
    let percentile = |p| d.lat.percentile(p).map_or("-".into(), |ns| number(ns.micros()));
    vec![
        name,
        number(d.bw.mb()),
        whole(d.iops.0),
        micros(d.lat.mean_ns),
        percentile(50.0),
        percentile(99.0),
        percentile(99.9),
        number(d.lat.max_ns.micros()),
        micros(cpu_ns),
    ]
}

/// Complete results by workload.
fn groups(record: &RunRecord) -> Vec<(String, Vec<&StepResult>)> {
    let mut groups: Vec<(String, Vec<&StepResult>)> = Vec::new();
    for result in record.results.iter().filter(|r| !r.cut_short) {
        let Some(step) = record.spec.steps.get(result.step as usize) else { continue };
        let label = shown(&step.workload.label());
        match groups.iter_mut().find(|(l, _)| *l == label) {
            Some((_, results)) => results.push(result),
            None => groups.push((label, vec![result])),
        }
    }
    groups
}

/// Column by column, each the median of the repetitions.
fn medians(label: &str, results: &[&StepResult], table: &mut Table) {
    let parts: [(&str, Vec<&Direction>); 2] = [
        ("read", results.iter().filter_map(|r| r.read.as_ref()).collect()),
        ("write", results.iter().filter_map(|r| r.write.as_ref()).collect()),
    ];
    let both = parts.iter().all(|(_, d)| !d.is_empty());
    for (name, directions) in parts.iter().filter(|(_, d)| !d.is_empty()) {
        let median = |of: &dyn Fn(&Direction) -> Option<f64>| {
            let values: Vec<f64> = directions.iter().filter_map(|d| of(d)).collect();
            Summary::of(&values).map_or(f64::NAN, |s| s.median)
        };
        let percentile = |p| median(&|d| d.lat.percentile(p).map(Nanos::micros));
        let cpu: Vec<f64> = results.iter().map(|r| r.cpu.per_io_ns).collect();
        let direction = if both { format!(", {name}") } else { String::new() };
        table.row([
            format!("{label}{direction}, median of {}", directions.len()),
            number(median(&|d| Some(d.bw.mb()))),
            whole(median(&|d| Some(d.iops.0))),
            number(median(&|d| Some(d.lat.mean_ns / 1e3))),
            number(percentile(50.0)),
            number(percentile(99.0)),
            number(percentile(99.9)),
            number(median(&|d| Some(d.lat.max_ns.micros()))),
            micros(Summary::of(&cpu).map_or(f64::NAN, |s| s.median)),
        ]);
    }
}
