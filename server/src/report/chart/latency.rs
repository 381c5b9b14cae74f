//! Distributions of latency, overlaid: percentiles across, stretched towards the slowest accesses; latency upwards.

use super::canvas::{dot, label, line, path, svg, upright};
use super::scale::Scale;
use crate::report::data::Quantiles;
use crate::report::figures::{short, tick};
use crate::report::markup::Markup;

/// The percentiles that the axis names.
const NAMED: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];
const LEFT: f64 = 54.0;
const RIGHT: f64 = 376.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 190.0;

/// With the saving value, and with the one compared with; each with its name.
pub(in crate::report) fn draw(m: &mut Markup, saving: (&str, &Quantiles), performing: (&str, &Quantiles), words: &str) {
    let both = || saving.1.iter().chain(performing.1);
    let across = Scale::linear(both().map(|(p, _)| stretched(*p)).chain([0.0, stretched(90.0)]), (LEFT, RIGHT));
    let up = Scale::logarithmic(both().map(|(_, ns)| *ns), (BOTTOM, TOP));
    svg(m, "plot spread", BOTTOM + 32.0, words, |m| {
        upright(m, &up, (LEFT, RIGHT), tick);
        for p in NAMED.into_iter().filter(|p| across.holds(stretched(*p))) {
            let x = across.at(stretched(p));
            line(m, "grid", (x, TOP), (x, BOTTOM));
            label(m, "tick", (x, BOTTOM + 12.0), "middle", format!("{p} %"));
        }
        label(m, "axis", (RIGHT, BOTTOM + 26.0), "end", "share of accesses that are faster");
        for (i, (class, (name, quantiles))) in [("saving", saving), ("performing", performing)].into_iter().enumerate()
        {
            let points: Vec<_> = quantiles.iter().map(|(p, ns)| (across.at(stretched(*p)), up.at(*ns))).collect();
            path(m, class, &points);
            for at in &points {
                dot(m, class, *at, 2.2);
            }
            let y = 12.0 + 14.0 * i as f64;
            path(m, class, &[(LEFT, y - 3.5), (LEFT + 22.0, y - 3.5)]);
            dot(m, class, (LEFT + 11.0, y - 3.5), 2.2);
            label(m, "row", (LEFT + 28.0, y), "start", short(name, 58));
        }
    });
}

/// Each tenth of what is still slower takes the same width.
fn stretched(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).max(1e-9).log10()
}
