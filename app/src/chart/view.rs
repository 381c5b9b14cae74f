//! The chart as an element: one tab stop, arrow keys, a readout in words.

use super::curve::Curve;
use super::paint::{Frame, paint};
use super::table::PointTable;
use crate::format;
use crate::live::Handle;
use crate::model::{Group, Metric, RunModel};
use crate::theme::Theme;
use leptos::html::Canvas;
use leptos::prelude::*;
use protocol::preset::Column;
use protocol::sample::SAMPLES_PER_SECOND;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{KeyboardEvent, PointerEvent};

fn curve_of(model: &RunModel, group: usize, metric: Metric) -> Option<Curve> {
    Some(Curve::new(model.groups.get(group)?, model.tracks.get(group)?, metric))
}

/// Custom property with the line's colour: direction for rates, its own for latency, neutral for mixes.
fn colour_of(model: &RunModel, group: usize, metric: Metric) -> &'static str {
    match (metric, model.groups.get(group).map(Group::direction)) {
        (Metric::Latency, _) => "--latency",
        (_, Some(Column::Read)) => "--read",
        (_, Some(Column::Write)) => "--write",
        _ => "--text",
    }
}

/// What the curve is, in words.
fn caption(model: &RunModel, group: usize, metric: Metric, clipped: bool) -> String {
    let label = model.groups.get(group).map_or("", |g| g.label.as_str());
    let every = model.tracks.get(group).map_or(1, crate::model::Track::every);
    let what = match metric {
        Metric::Throughput => "throughput",
        Metric::Iops => "accesses per second",
        Metric::Latency => "line p50, band up to p99",
    };
    let ms = 1000 / SAMPLES_PER_SECOND * every;
    let beyond = if clipped { ", cut off in places" } else { "" };
    format!("{label}, {what}, one point per {ms} ms{beyond}")
}

/// One point in words.
fn readout(model: &RunModel, group: usize, metric: Metric, index: usize) -> Option<String> {
    let curve = curve_of(model, group, metric)?;
    let spot = curve.spots.get(index)?;
    let value = metric.format(spot.y).text();
    let tail = spot.high.map(|h| format!(", p99 {}", format::latency(h).text())).unwrap_or_default();
    let median = if metric == Metric::Latency { "p50 " } else { "" };
    let faint = if spot.faint { ", not scored" } else { "" };
    Some(format!("{} s: {median}{value}{tail}{faint}", format::digits(spot.x)))
}

/// The curve of one group.
#[component]
pub(crate) fn Chart(handle: Handle, metric: Signal<Metric>, group: Signal<usize>) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let frame = StoredValue::new(Frame::default());
    let cursor = RwSignal::new(None::<usize>);
    let resized = RwSignal::new(0u32);
    let theme = expect_context::<Theme>();

    Effect::new(move || {
        let Some(element) = canvas.get() else { return };
        let observer_callback = Closure::<dyn FnMut()>::new(move || {
            let _ = resized.try_update(|n| *n += 1);
        });
        let Ok(observer) = web_sys::ResizeObserver::new(observer_callback.as_ref().unchecked_ref()) else { return };
        observer.observe(&element);
        let kept = StoredValue::new_local((observer, observer_callback));
        on_cleanup(move || {
            let _ = kept.try_with_value(|(o, _)| o.disconnect());
        });
    });
    Effect::new(move || {
        resized.track();
        theme.track();
        let (metric, group, cursor) = (metric.get(), group.get(), cursor.get());
        let Some(element) = canvas.get() else { return };
        handle.numbers(|m| {
            let Some(curve) = curve_of(m, group, metric) else { return };
            if let Some(f) = paint(&element, &curve, metric, colour_of(m, group, metric), cursor) {
                frame.set_value(f);
            }
        });
    });
    // Another group or metric: the cursor's point is another one.
    Effect::new(move || {
        metric.track();
        group.track();
        cursor.set(None);
    });

    let current = move || handle.once(|m| curve_of(m, group.get_untracked(), metric.get_untracked())).flatten();
    let point = move |ev: PointerEvent| {
        if let Some(curve) = current() {
            cursor.set(curve.nearest(frame.get_value().time(&curve, f64::from(ev.offset_x()))));
        }
    };
    let key = move |ev: KeyboardEvent| {
        let Some(last) = current().and_then(|c| c.spots.len().checked_sub(1)) else { return };
        let at = cursor.get_untracked();
        let far = (last / 10).max(1);
        let next = match ev.key().as_str() {
            "ArrowRight" => Some(at.map_or(0, |i| (i + 1).min(last))),
            "ArrowLeft" => Some(at.map_or(last, |i| i.saturating_sub(1))),
            "PageDown" => Some(at.map_or(0, |i| (i + far).min(last))),
            "PageUp" => Some(at.map_or(last, |i| i.saturating_sub(far))),
            "Home" => Some(0),
            "End" => Some(last),
            "Escape" => None,
            _ => return,
        };
        ev.prevent_default();
        cursor.set(next);
    };
    let words = move || {
        let at = cursor.get()?;
        handle.run(|m| readout(m, group.get(), metric.get(), at)).flatten()
    };
    let label = Memo::new(move |_| {
        handle.numbers(|m| {
            let clipped = curve_of(m, group.get(), metric.get()).is_some_and(|c| c.clipped);
            caption(m, group.get(), metric.get(), clipped)
        })
    });
    view! {
        <figure class="chart">
            <canvas
                node_ref=canvas
                tabindex="0"
                role="img"
                data-testid="chart"
                aria-label=move || format!("{}. Arrow keys walk the points.", label.get().unwrap_or_default())
                on:pointermove=point
                on:pointerleave=move |_| cursor.set(None)
                on:keydown=key
                on:blur=move |_| cursor.set(None)
            ></canvas>
            <figcaption>
                <span>{move || label.get()}</span>
                <output aria-live="polite">{words}</output>
            </figcaption>
            <PointTable handle group/>
        </figure>
    }
}
