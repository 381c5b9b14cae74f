//! Latency after idle gaps.

use super::canvas::{across, dot, label, path, svg, upright};
use super::scale::Scale;
use crate::report::figures::tick;
use crate::report::markup::Markup;

const LEFT: f64 = 54.0;
const RIGHT: f64 = 376.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 170.0;

/// Points are pairs of the gap in s and the median latency after it in ns.
pub(in crate::report) fn draw(m: &mut Markup, points: &[(f64, f64)], words: &str) {
    let x = Scale::logarithmic(points.iter().map(|p| p.0), (LEFT, RIGHT));
    let y = Scale::logarithmic(points.iter().map(|p| p.1), (BOTTOM, TOP));
    svg(m, "plot gaps", BOTTOM + 34.0, words, |m| {
        upright(m, &y, (LEFT, RIGHT), tick);
        across(m, &x, (TOP, BOTTOM), "idle gap before the read", |s| tick(s * 1e9));
        label(m, "axis", (LEFT, 12.0), "start", "median latency of a read");
        let places: Vec<_> = points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
        path(m, "saving", &places);
        for at in &places {
            dot(m, "saving", *at, 2.6);
        }
    });
}
