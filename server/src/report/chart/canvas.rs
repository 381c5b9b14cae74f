//! Lines, labels and axes.

use super::scale::Scale;
use crate::report::markup::Markup;
use protocol::experiment::Finding;
use std::fmt::Display;

/// Width of every chart in its own units.
pub(super) const WIDTH: f64 = 400.0;

/// A place, to a tenth of a unit.
pub(super) fn place(v: f64) -> String {
    format!("{v:.1}")
}

/// An SVG of this height, with what it shows in words for those who do not see it.
pub(super) fn svg(m: &mut Markup, class: &'static str, height: f64, label: &str, inside: impl FnOnce(&mut Markup)) {
    svg_of(m, class, (WIDTH, height), label, inside);
}

/// An SVG of this width and height.
pub(super) fn svg_of(
    m: &mut Markup,
    class: &'static str,
    (width, height): (f64, f64),
    label: &str,
    inside: impl FnOnce(&mut Markup),
) {
    let view = format!("0 0 {width:.0} {height:.0}");
    m.element("svg", &[("class", &class), ("viewBox", &view), ("role", &"img"), ("aria-label", &label)], inside);
}

pub(super) fn line(m: &mut Markup, class: &'static str, from: (f64, f64), to: (f64, f64)) {
    let (x1, y1, x2, y2) = (place(from.0), place(from.1), place(to.0), place(to.1));
    m.element("line", &[("class", &class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)], |_| ());
}

/// Text that begins (`start`), ends (`end`) or is centred (`middle`) at a place.
pub(super) fn label(m: &mut Markup, class: &'static str, at: (f64, f64), anchor: &'static str, text: impl Display) {
    let (x, y) = (place(at.0), place(at.1));
    m.element("text", &[("class", &class), ("x", &x), ("y", &y), ("text-anchor", &anchor)], |m| m.text(text));
}

/// A bar between two places of a row.
pub(super) fn bar(m: &mut Markup, class: &'static str, ends: (f64, f64), top: f64, height: f64) {
    let (x, width) = (place(ends.0.min(ends.1)), place((ends.0 - ends.1).abs()));
    let (y, height) = (place(top), place(height));
    m.element("rect", &[("class", &class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)], |_| ());
}

pub(super) fn dot(m: &mut Markup, class: &'static str, at: (f64, f64), radius: f64) {
    let (x, y, r) = (place(at.0), place(at.1), place(radius));
    m.element("circle", &[("class", &class), ("cx", &x), ("cy", &y), ("r", &r)], |_| ());
}

/// A line through several places.
pub(super) fn path(m: &mut Markup, class: &'static str, points: &[(f64, f64)]) {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    m.element("polyline", &[("class", &class), ("points", &points.join(" "))], |_| ());
}

/// Class of what has a verdict.
pub(super) fn class(verdict: Finding) -> &'static str {
    match verdict {
        Finding::Brake => "brake",
        Finding::Free => "free",
        Finding::Helps => "helps",
        Finding::Undecided => "undecided",
    }
}

/// The verdict's shape: a brake points down, what helps points up, what is free is a full circle, what is undecided an
/// empty one.
pub(super) fn shape(m: &mut Markup, verdict: Finding, (x, y): (f64, f64)) {
    let triangle = |up: f64| {
        format!("{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}", x - 4.5, y + 3.5 * up, x + 4.5, y + 3.5 * up, x, y - 4.5 * up)
    };
    let points = match verdict {
        Finding::Brake => triangle(-1.0),
        Finding::Helps => triangle(1.0),
        Finding::Free | Finding::Undecided => return dot(m, class(verdict), (x, y), 3.8),
    };
    m.element("polygon", &[("class", &class(verdict)), ("points", &points)], |_| ());
}

/// A horizontal axis below a chart: ticks as lines through it, labels below, the unit at the end.
pub(super) fn across(
    m: &mut Markup,
    scale: &Scale,
    (top, bottom): (f64, f64),
    name: &str,
    text: impl Fn(f64) -> String,
) {
    for tick in scale.ticks(5.0) {
        let x = scale.at(tick);
        line(m, "grid", (x, top), (x, bottom));
        label(m, "tick", (x, bottom + 12.0), "middle", text(tick));
    }
    label(m, "axis", (WIDTH - 4.0, bottom + 26.0), "end", name);
}

/// A vertical axis at the left of a chart.
pub(super) fn upright(m: &mut Markup, scale: &Scale, (left, right): (f64, f64), text: impl Fn(f64) -> String) {
    for tick in scale.ticks(5.0) {
        let y = scale.at(tick);
        line(m, "grid", (left, y), (right, y));
        label(m, "tick", (left - 4.0, y + 3.5), "end", text(tick));
    }
}
