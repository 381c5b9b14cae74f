//! What each saving value costs: a bar to the estimate, the interval over it, the threshold on both sides of zero.

use super::RAW;
use super::canvas::{WIDTH, across, bar, class, dot, label, line, shape, svg};
use super::scale::Scale;
use crate::report::figures::{percent, short};
use crate::report::markup::Markup;
use protocol::experiment::Effect;

/// An effect with the differences within blocks that it rests on, in percent.
pub(in crate::report) struct Cost<'a> {
    pub(in crate::report) effect: &'a Effect,
    pub(in crate::report) differences: Vec<f64>,
}

/// Effects of one knob.
pub(in crate::report) struct Group<'a> {
    /// The setting.
    pub(in crate::report) title: String,
    /// Its values, and what the others were at.
    pub(in crate::report) compared: String,
    pub(in crate::report) costs: Vec<Cost<'a>>,
}

const HEADING: f64 = 34.0;
const ROW: f64 = 18.0;
/// Where the names of the workloads end, and the places of the axis.
const PLOT: (f64, f64) = (118.0, 300.0);
/// Percent beyond which no axis goes; an interval that does is cut there.
const FAR: f64 = 100.0;

/// One row for each workload below each knob.
pub(in crate::report) fn draw(m: &mut Markup, groups: &[Group<'_>], threshold_percent: f64) {
    let all = || groups.iter().flat_map(|g| &g.costs).map(|c| c.effect);
    let ends = all().flat_map(|e| [e.low_percent, e.estimate_percent, e.high_percent]).flatten();
    let around = [0.0, 2.0 * threshold_percent, -2.0 * threshold_percent];
    let scale = Scale::linear(ends.chain(around).map(|p| p.clamp(-FAR, FAR)), PLOT);
    let rows: f64 = groups.iter().map(|g| HEADING + ROW * g.costs.len() as f64).sum();
    let bottom = 6.0 + rows;
    let words = format!("Change by each saving value in percent, with 95 % intervals; {} comparisons", all().count());
    svg(m, "plot cost", bottom + 34.0, &words, |m| {
        across(m, &scale, (4.0, bottom), "change of performance, %", number);
        for side in [-threshold_percent, threshold_percent] {
            line(m, "threshold", (scale.at(side), 4.0), (scale.at(side), bottom));
        }
        line(m, "zero", (scale.at(0.0), 4.0), (scale.at(0.0), bottom));
        let mut y = 6.0;
        for group in groups {
            label(m, "name", (4.0, y + 14.0), "start", short(&group.title, 58));
            label(m, "row", (4.0, y + 27.0), "start", short(&group.compared, 72));
            y += HEADING;
            for cost in &group.costs {
                row(m, &scale, cost, y);
                y += ROW;
            }
        }
    });
}

fn row(m: &mut Markup, scale: &Scale, Cost { effect: e, differences }: &Cost<'_>, y: f64) {
    let middle = y + ROW / 2.0;
    label(m, "row", (PLOT.0 - 8.0, middle + 3.5), "end", short(&e.workload, 19));
    if let Some(estimate) = e.estimate_percent {
        bar(m, class(e.verdict), (scale.at(0.0), scale.at(estimate)), middle - 5.0, 10.0);
    }
    if differences.len() < RAW {
        for p in differences.iter().filter(|p| scale.holds(**p)) {
            dot(m, "raw", (scale.at(*p), middle), 1.2);
        }
    }
    if let (Some(low), Some(high)) = (e.low_percent, e.high_percent) {
        line(m, "interval", (scale.at(low), middle), (scale.at(high), middle));
        // An end that is cut has no cap.
        for end in [low, high].into_iter().filter(|p| scale.holds(*p)) {
            line(m, "interval", (scale.at(end), middle - 4.0), (scale.at(end), middle + 4.0));
        }
    }
    let text = WIDTH - 92.0;
    shape(m, e.verdict, (text, middle));
    label(m, class(e.verdict), (text + 8.0, middle + 3.5), "start", e.verdict.name());
    label(m, "count", (WIDTH - 2.0, middle + 3.5), "end", format!("n {}", e.blocks));
}

/// `−10`, at a tick.
fn number(p: f64) -> String {
    if p == 0.0 { "0".into() } else { percent(p).trim_end_matches(" %").replace(".0", "") }
}
