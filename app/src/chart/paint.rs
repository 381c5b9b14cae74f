//! Draws a [`Curve`] on a canvas.

use super::curve::{Curve, Spot};
use super::scale::{ticks, time_ticks};
use crate::format::{digits, whole};
use crate::model::Metric;
use leptos::prelude::window;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, CssStyleDeclaration, HtmlCanvasElement};

/// Fewer points than this are drawn as points too.
const FEW: usize = 100;

/// Colours and sizes, read from the style sheet with each drawing so that themes apply at once.
struct Look {
    style: CssStyleDeclaration,
    /// Root font size in px.
    rem: f64,
    font: String,
}

impl Look {
    fn of(canvas: &HtmlCanvasElement) -> Option<Self> {
        let style = window().get_computed_style(canvas).ok()??;
        let root = window().get_computed_style(&canvas.owner_document()?.document_element()?).ok()??;
        let rem = root.get_property_value("font-size").ok()?.trim_end_matches("px").parse().ok()?;
        let font = style.get_property_value("font-family").ok()?;
        Some(Self { style, rem, font })
    }
    fn colour(&self, name: &str) -> String {
        self.style.get_property_value(name).unwrap_or_default()
    }
}

/// Where the plot lies within the canvas, in CSS pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Frame {
    fn x(&self, curve: &Curve, t: f64) -> f64 {
        self.left + t / curve.x_max * self.width
    }
    fn y(&self, curve: &Curve, v: f64) -> f64 {
        let share = if curve.y_max > 0.0 { (v / curve.y_max).min(1.0) } else { 0.0 };
        self.top + self.height * (1.0 - share)
    }
    /// The time under a horizontal position.
    pub(crate) fn time(&self, curve: &Curve, px: f64) -> f64 {
        (px - self.left) / self.width.max(1.0) * curve.x_max
    }
}

/// Draws everything; `colour` names the line's custom property. Returns where the plot lies.
pub(crate) fn paint(
    canvas: &HtmlCanvasElement,
    curve: &Curve,
    metric: Metric,
    colour: &str,
    cursor: Option<usize>,
) -> Option<Frame> {
    let look = Look::of(canvas)?;
    let (width, height) = (f64::from(canvas.client_width()), f64::from(canvas.client_height()));
    let ratio = window().device_pixel_ratio();
    let (w, h) = (whole(width * ratio), whole(height * ratio));
    if (canvas.width(), canvas.height()) != (w, h) {
        canvas.set_width(w);
        canvas.set_height(h);
    }
    let c: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    c.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0).ok()?;
    c.clear_rect(0.0, 0.0, width, height);
    let rem = look.rem;
    c.set_font(&format!("{}px {}", (0.75 * rem).round(), look.font));
    let (unit, factor) = axis_unit(metric, curve.y_max);
    let values = ticks(curve.y_max.max(1e-9) / factor, if height < 12.0 * rem { 3 } else { 5 });
    let label = |v: f64| if v == 0.0 { "0".to_owned() } else { trimmed(&digits(v)) };
    let widest = values.iter().filter_map(|v| Some(c.measure_text(&label(*v)).ok()?.width())).fold(0.0, f64::max);
    let left = widest.max(1.5 * rem) + 0.75 * rem;
    let frame = Frame { left, top: 1.75 * rem, width: width - left - 0.75 * rem, height: height - 3.5 * rem };

    axes(&c, &look, &frame, curve, &values, factor, &label);
    c.set_text_align("left");
    c.set_fill_style_str(&look.colour("--quiet"));
    c.fill_text(unit, 0.0, 0.75 * rem).ok()?;
    let colour = look.colour(colour);
    band(&c, &frame, curve, &colour);
    line(&c, &frame, curve, &colour, rem);
    if let Some(spot) = cursor.and_then(|i| curve.spots.get(i)) {
        mark(&c, &look, &frame, curve, spot, &colour);
    }
    Some(frame)
}

/// Unit of the value axis and its size in base units.
fn axis_unit(metric: Metric, max: f64) -> (&'static str, f64) {
    match metric {
        Metric::Throughput => ("MB/s", 1e6),
        Metric::Iops if max >= 20_000.0 => ("thousand IOPS", 1e3),
        Metric::Iops => ("IOPS", 1.0),
        Metric::Latency if max >= 2e6 => ("ms", 1e6),
        Metric::Latency => ("µs", 1e3),
    }
}

/// Round axis values need no trailing zeros: `2.50` is `2.5`.
fn trimmed(text: &str) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
}

fn axes(
    c: &CanvasRenderingContext2d,
    look: &Look,
    frame: &Frame,
    curve: &Curve,
    values: &[f64],
    factor: f64,
    label: &impl Fn(f64) -> String,
) {
    let rem = look.rem;
    let bottom = frame.top + frame.height;
    let crisp = |v: f64| v.round() + 0.5;
    c.set_line_width(1.0);
    c.set_stroke_style_str(&look.colour("--hairline"));
    c.set_fill_style_str(&look.colour("--quiet"));
    c.set_text_align("right");
    c.set_text_baseline("middle");
    c.begin_path();
    for v in values {
        let y = crisp(frame.y(curve, v * factor));
        c.move_to(frame.left, y);
        c.line_to(frame.left + frame.width, y);
        if curve.y_max > 0.0 {
            let _ = c.fill_text(&label(*v), frame.left - 0.5 * rem, y);
        }
    }
    c.set_text_align("center");
    c.set_text_baseline("alphabetic");
    let most = whole(frame.width / (5.0 * rem)) as usize;
    for t in time_ticks(curve.x_max, most.clamp(2, 10)) {
        let x = crisp(frame.x(curve, t));
        c.move_to(x, bottom);
        c.line_to(x, bottom + 0.25 * rem);
        let text = if t >= 120.0 { format!("{} min", trimmed(&digits(t / 60.0))) } else { trimmed(&digits(t)) + " s" };
        let _ = c.fill_text(&text, x.min(frame.left + frame.width - 0.75 * rem), bottom + 1.25 * rem);
    }
    for (i, pass) in curve.passes.iter().enumerate() {
        let x = crisp(frame.x(curve, pass.x));
        if i > 0 {
            c.move_to(x, frame.top);
            c.line_to(x, bottom);
        }
    }
    c.stroke();
    // Labels of passes only where they do not run into each other.
    let room = curve.passes.get(1).map_or(0.0, |p| frame.x(curve, p.x) - frame.left);
    c.set_text_align("left");
    for pass in curve.passes.iter().filter(|p| p.x < curve.x_max) {
        if c.measure_text(&pass.label).is_ok_and(|m| m.width() + rem < room) {
            let _ = c.fill_text(&pass.label, frame.x(curve, pass.x) + 0.375 * rem, frame.top - 0.375 * rem);
        }
    }
}

/// Runs of spots that are drawn as one line.
fn runs(spots: &[Spot]) -> impl Iterator<Item = &[Spot]> {
    spots.chunk_by(|a, b| !b.gap && a.faint == b.faint)
}

fn band(c: &CanvasRenderingContext2d, frame: &Frame, curve: &Curve, colour: &str) {
    c.set_fill_style_str(colour);
    for run in runs(&curve.spots) {
        c.set_global_alpha(if run.first().is_some_and(|s| s.faint) { 0.1 } else { 0.22 });
        c.begin_path();
        // Under a line of rates the area down to zero; around a median the way up to the 99th percentile.
        for s in run {
            c.line_to(frame.x(curve, s.x), frame.y(curve, s.high.unwrap_or(s.y)));
        }
        for s in run.iter().rev() {
            c.line_to(frame.x(curve, s.x), frame.y(curve, if s.high.is_some() { s.y } else { 0.0 }));
        }
        c.close_path();
        c.fill();
    }
    c.set_global_alpha(1.0);
}

fn line(c: &CanvasRenderingContext2d, frame: &Frame, curve: &Curve, colour: &str, rem: f64) {
    c.set_stroke_style_str(colour);
    c.set_fill_style_str(colour);
    c.set_line_width((rem / 10.0).max(1.5));
    c.set_line_join("round");
    let dots = curve.spots.len() < FEW;
    for run in runs(&curve.spots) {
        c.set_global_alpha(if run.first().is_some_and(|s| s.faint) { 0.45 } else { 1.0 });
        c.begin_path();
        for s in run {
            c.line_to(frame.x(curve, s.x), frame.y(curve, s.y));
        }
        c.stroke();
        if dots || run.len() == 1 {
            for s in run {
                c.begin_path();
                let _ = c.arc(frame.x(curve, s.x), frame.y(curve, s.y), rem / 8.0, 0.0, std::f64::consts::TAU);
                c.fill();
            }
        }
    }
    c.set_global_alpha(1.0);
}

fn mark(c: &CanvasRenderingContext2d, look: &Look, frame: &Frame, curve: &Curve, spot: &Spot, colour: &str) {
    let (x, y) = (frame.x(curve, spot.x), frame.y(curve, spot.y));
    c.set_stroke_style_str(&look.colour("--quiet"));
    c.set_line_width(1.0);
    c.begin_path();
    c.move_to(x.round() + 0.5, frame.top);
    c.line_to(x.round() + 0.5, frame.top + frame.height);
    c.stroke();
    c.begin_path();
    let _ = c.arc(x, y, look.rem / 4.0, 0.0, std::f64::consts::TAU);
    c.set_fill_style_str(&look.colour("--ground"));
    c.fill();
    c.set_stroke_style_str(colour);
    c.set_line_width(2.0);
    c.stroke();
}
