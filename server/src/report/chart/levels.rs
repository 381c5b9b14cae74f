//! What each configuration yields: a bar from zero to the median over trials, and every trial as a point.

use super::RAW;
use super::canvas::{WIDTH, across, bar, dot, label, path, svg, svg_of};
use super::scale::Scale;
use crate::report::figures::{short, value};
use crate::report::markup::Markup;
use lab::summary::Summary;
use protocol::experiment::Metric;

/// A configuration and what its trials yielded.
pub(in crate::report) struct Level {
    pub(in crate::report) name: String,
    /// What it changes against the one before it; empty where that is not the question.
    pub(in crate::report) changes: String,
    pub(in crate::report) values: Vec<f64>,
}

const PLOT: (f64, f64) = (8.0, 300.0);

/// One row for each level. `climbing`: they follow one another, which a line through the medians shows.
pub(in crate::report) fn draw(m: &mut Markup, levels: &[Level], metric: Metric, climbing: bool, label_text: &str) {
    let row = if levels.iter().any(|l| !l.changes.is_empty()) { 46.0 } else { 34.0 };
    let bottom = 4.0 + row * levels.len() as f64;
    let scale = Scale::linear(levels.iter().flat_map(|l| l.values.iter().copied()).chain([0.0]), PLOT);
    let raw = levels.iter().map(|l| l.values.len()).sum::<usize>() < RAW;
    svg(m, "plot levels", bottom + 34.0, label_text, |m| {
        across(m, &scale, (4.0, bottom), axis(metric), |v| number(metric, v));
        let mut line = Vec::new();
        for (i, level) in levels.iter().enumerate() {
            let y = 4.0 + row * i as f64;
            label(m, "name", (PLOT.0, y + 13.0), "start", short(&level.name, 58));
            if !level.changes.is_empty() {
                label(m, "row", (PLOT.0, y + 25.0), "start", short(&level.changes, 72));
            }
            let middle = y + row - 11.0;
            let Some(all) = Summary::of(&level.values) else {
                label(m, "count", (PLOT.0, middle + 4.0), "start", "no trial that counts");
                continue;
            };
            bar(m, color(metric), (scale.at(0.0), scale.at(all.median)), middle - 5.0, 10.0);
            if raw {
                level.values.iter().for_each(|v| dot(m, "raw", (scale.at(*v), middle), 1.4));
            }
            line.push((scale.at(all.median), middle));
            label(m, "value", (PLOT.1 + 6.0, middle + 1.0), "start", value(metric, all.median));
            label(m, "count", (WIDTH - 2.0, middle + 11.0), "end", format!("median of {}", all.n));
        }
        if climbing {
            path(m, "climb", &line);
        }
    });
}

/// Parts of a row that is read from afar: name, bar, value.
const WIDE: f64 = 470.0;
const BAR: (f64, f64) = (196.0, 396.0);
const ROW: f64 = 18.0;

/// The same in rows of one line, so that the letters are large on a screen on a wall.
pub(in crate::report) fn draw_large(m: &mut Markup, levels: &[Level], metric: Metric, label_text: &str) {
    let scale =
        Scale::linear(levels.iter().filter_map(|l| Summary::of(&l.values)).map(|all| all.median).chain([0.0]), BAR);
    svg_of(m, "plot levels", (WIDE, 4.0 + ROW * levels.len() as f64), label_text, |m| {
        for (i, level) in levels.iter().enumerate() {
            let middle = 4.0 + ROW * (i as f64 + 0.5);
            label(m, "name", (0.0, middle + 3.5), "start", short(&level.name, 29));
            let Some(all) = Summary::of(&level.values) else {
                label(m, "count", (BAR.0, middle + 3.5), "start", "no trial that counts");
                continue;
            };
            bar(m, color(metric), (scale.at(0.0), scale.at(all.median)), middle - 6.0, 12.0);
            label(m, "value", (BAR.1 + 6.0, middle + 3.5), "start", value(metric, all.median));
        }
    });
}

fn color(metric: Metric) -> &'static str {
    match metric {
        Metric::Bw | Metric::Iops => "rate",
        Metric::LatencyMean | Metric::LatencyP50 | Metric::LatencyP99 | Metric::LatencyP999 => "latency",
        Metric::CpuPerIo | Metric::EnergyPerIo | Metric::IdlePower => "other",
    }
}

fn axis(metric: Metric) -> &'static str {
    match metric {
        Metric::Bw => "MB/s, more is better",
        Metric::Iops => "IOPS, more is better",
        Metric::IdlePower => "W at idle, less is better",
        Metric::EnergyPerIo => "energy per access, less is better",
        Metric::CpuPerIo => "CPU time per access, less is better",
        _ => "latency, less is better",
    }
}

/// The number at a tick; without its unit where the axis says it.
fn number(metric: Metric, v: f64) -> String {
    let text = value(metric, v);
    match metric {
        _ if v == 0.0 => "0".into(),
        Metric::Bw | Metric::Iops | Metric::IdlePower => text.split(' ').next().unwrap_or_default().to_owned(),
        _ => text,
    }
}
