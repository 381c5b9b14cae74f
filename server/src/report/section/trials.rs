//! Every trial.

use super::table::{Column, table};
use super::{behind, section};
use crate::report::data::Data;
use crate::report::figures::{NONE, value};
use crate::report::markup::Markup;
use protocol::experiment::{Metric, Trial};

const FIRST: [Column; 4] = [("number", false), ("block", false), ("configuration", true), ("workload", true)];
const LAST: [Column; 2] = [("started", true), ("void because", true)];
/// Rows that a browser still shows at once.
const MOST: usize = 3000;

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    let trials = &data.file.report.trials;
    if trials.is_empty() {
        return;
    }
    let metrics: Vec<Metric> =
        Metric::ALL.into_iter().filter(|metric| trials.iter().any(|t| t.metrics.contains_key(metric))).collect();
    let columns: Vec<Column> =
        FIRST.into_iter().chain(metrics.iter().map(|metric| (heading(*metric), false))).chain(LAST).collect();
    let (void, counted): (Vec<&Trial>, Vec<&Trial>) = trials.iter().partition(|t| t.void.is_some());
    section(m, "Trials", |m| {
        if !void.is_empty() {
            behind(m, &format!("{} void trials, repeated and never averaged in", void.len()), |m| {
                table(m, &columns, void.iter().take(MOST).map(|t| row(data, t, &metrics)));
            });
        }
        behind(m, &format!("{} trials that count", counted.len()), |m| {
            table(m, &columns, counted.iter().take(MOST).map(|t| row(data, t, &metrics)));
        });
        if counted.len().max(void.len()) > MOST {
            m.note("p", "fine", format!("The first {MOST} of each are shown; the JSON export has all."));
        }
    });
}

fn row(data: &Data<'_>, t: &Trial, metrics: &[Metric]) -> Vec<String> {
    let mut cells = vec![
        t.number.to_string(),
        t.block.saturating_add(1).to_string(),
        data.name(t.configuration as usize).to_owned(),
        t.workload.clone(),
    ];
    let number = |metric: &Metric| t.metrics.get(metric).map_or(NONE.into(), |v| value(*metric, *v));
    cells.extend(metrics.iter().map(number));
    cells.push(t.started_at.clone());
    cells.push(t.void.clone().unwrap_or_default());
    cells
}

fn heading(metric: Metric) -> &'static str {
    match metric {
        Metric::Bw => "throughput",
        Metric::Iops => "IOPS",
        Metric::LatencyMean => "mean",
        Metric::LatencyP50 => "p50",
        Metric::LatencyP99 => "p99",
        Metric::LatencyP999 => "p99.9",
        Metric::CpuPerIo => "CPU per access",
        Metric::EnergyPerIo => "energy per access",
        Metric::IdlePower => "idle",
    }
}
