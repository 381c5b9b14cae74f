//! What the host does while one looks: power, frequency, idle states, and what else a setting shows itself in.

use crate::format;
use crate::live::Power;
use crate::model::{Settings, speed, total_watts, use_of_cpus};
use leptos::prelude::*;
use protocol::telemetry::{IdleSample, LinkSample, Telemetry};

/// One line: a name, its value, and a bar where it is a share.
type Line = (String, String, Option<f64>);

/// Sensors that are listed.
const SENSORS: usize = 8;

/// The panel.
#[component]
pub(crate) fn HostLoad() -> impl IntoView {
    let power = expect_context::<Power>();
    let lines = move |lines: fn(&Telemetry) -> Vec<Line>| {
        move || {
            power
                .load(|s| s.host.telemetry.as_ref().map(lines).unwrap_or_default())
                .into_iter()
                .map(line)
                .collect_view()
        }
    };
    let any = move |lines: fn(&Telemetry) -> Vec<Line>| {
        Memo::new(move |_| power.load(|s| s.host.telemetry.as_ref().is_some_and(|t| !lines(t).is_empty())))
    };
    let part = |title: &'static str, of: fn(&Telemetry) -> Vec<Line>| {
        let shown = any(of);
        view! {
            <Show when=move || shown.get()>
                <section class="part">
                    <h3>{title}</h3>
                    <dl class="meters">{lines(of)}</dl>
                </section>
            </Show>
        }
        .into_any()
    };
    let waits = Memo::new(move |_| power.load(|s| s.host.telemetry.is_none()));
    view! {
        <div class="load" data-testid="load">
            <h2>"This host now"</h2>
            <Show when=move || waits.get()>
                <p class="fine">"Waiting for the first sample"</p>
            </Show>
            <div class="readings">
                {reading(power, "power", watts)}
                {reading(power, "speed", frequency)}
            </div>
            {part("Idle states", idle)}
            {part("CPU", cpu)}
            {part("Meters", energy)}
            {part("Waiting for", pressure)}
            {part("Temperatures", temperatures)}
            {part("Links", links)}
        </div>
    }
}

/// A big number with its curve.
struct Reading {
    what: &'static str,
    value: String,
    unit: &'static str,
    note: String,
    path: String,
}

fn reading(power: Power, id: &'static str, read: fn(&Settings, &Telemetry) -> Reading) -> AnyView {
    (move || {
        let r = power.load(|s| s.host.telemetry.as_ref().map(|t| read(s, t)))?;
        let unknown = r.path.is_empty();
        Some(view! {
            <div class="big" class:unknown=unknown data-testid=id>
                <p class="fine">{r.what}</p>
                <p class="number">{r.value} " " <span class="unit">{r.unit}</span></p>
                <svg viewBox="0 0 300 40" preserveAspectRatio="none" aria-hidden="true"><path d=r.path/></svg>
                <p class="fine">{r.note}</p>
            </div>
        })
    })
    .into_any()
}

fn watts(s: &Settings, t: &Telemetry) -> Reading {
    let (path, top) = s.history.power_path();
    let Some((of, watts)) = total_watts(t) else {
        let reason = t.energy_reason.clone().unwrap_or_else(|| "the meter cannot be read".into());
        return Reading { what: "Power", value: "\u{2014}".into(), unit: "W", note: reason, path };
    };
    let note = format!("{of}, peak {}\u{a0}W", format::digits(top));
    Reading { what: "Power", value: format::digits(watts), unit: "W", note, path }
}

fn frequency(s: &Settings, t: &Telemetry) -> Reading {
    let (path, _) = s.history.speed_path();
    let Some(f) = speed(t) else {
        let note = "this host does not tell it".into();
        return Reading { what: "Frequency", value: "\u{2014}".into(), unit: "GHz", note, path };
    };
    let ghz = |mhz: f64| format!("{:.2}", mhz / 1e3);
    let note = format!("mean of the CPUs, {} to {}", ghz(f.min), ghz(f.max));
    Reading { what: "Frequency", value: ghz(f.mean), unit: "GHz", note, path }
}

fn line((name, value, share): Line) -> impl IntoView {
    let width = share.map(|share| format!("{:.1}%", (share * 100.0).clamp(0.0, 100.0)));
    let bar = width.map(|width| view! { <div class="bar" aria-hidden="true"><span style:width=width></span></div> });
    view! { <div class="meter"><dt>{name}</dt><dd>{value}</dd>{bar}</div> }
}

fn idle(t: &Telemetry) -> Vec<Line> {
    let state = |s: &IdleSample| {
        (format!("{} \u{b7} {}\u{a0}µs to wake", s.name, s.latency_us), format::percent(s.share), Some(s.share))
    };
    t.idle.iter().map(state).collect()
}

fn cpu(t: &Telemetry) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some((busy, irq, softirq)) = use_of_cpus(t) {
        lines.push((format!("busy, of {} CPUs", t.cpus.len()), format::percent(busy), Some(busy)));
        lines.push(("in interrupts".into(), format::percent(irq + softirq), Some(irq + softirq)));
    }
    if let Some(n) = t.throttled.filter(|n| *n > 0) {
        lines.push(("throttled".into(), format!("{n} times"), None));
    }
    lines
}

fn energy(t: &Telemetry) -> Vec<Line> {
    let watts = |w: Option<f64>| w.map_or_else(|| "unavailable".into(), |w| format!("{}\u{a0}W", format::digits(w)));
    let mut lines: Vec<Line> = t.energy.iter().map(|e| (e.name.clone(), watts(e.watts), None)).collect();
    if let Some(w) = t.supply.battery_watts {
        lines.push(("battery".into(), watts(Some(w)), None));
    }
    if let Some(ac) = t.supply.on_ac {
        lines.push(("supply".into(), if ac { "mains" } else { "battery" }.into(), None));
    }
    lines
}

fn pressure(t: &Telemetry) -> Vec<Line> {
    t.pressure.iter().map(|(what, share)| (what.clone(), format::percent(*share), Some(*share))).collect()
}

/// All sensors, or on a host with many of them the hottest and the first few.
fn temperatures(t: &Telemetry) -> Vec<Line> {
    let line = |name: String, celsius: f64| (name, format!("{celsius:.0}\u{a0}°C"), None);
    let mut lines: Vec<Line> = t.temperatures.iter().take(SENSORS).map(|s| line(s.name.clone(), s.celsius)).collect();
    let hottest = t.temperatures.iter().max_by(|a, b| a.celsius.total_cmp(&b.celsius));
    if let Some(s) = hottest.filter(|_| t.temperatures.len() > SENSORS) {
        lines.insert(0, line(format!("hottest of {}: {}", t.temperatures.len(), s.name), s.celsius));
    }
    lines
}

fn links(t: &Telemetry) -> Vec<Line> {
    let line = |l: &LinkSample| {
        let slower = l.max.as_ref().filter(|max| **max != l.current);
        let could = slower.map(|max| format!(", could be {max}")).unwrap_or_default();
        (format!("{} at {}{could}", l.drive, l.address), l.current.clone(), None)
    };
    t.links.iter().map(line).collect()
}
