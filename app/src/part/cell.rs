//! A cell of the grid, or a row of a custom run: a value, its companions, its share of the scale.

use crate::format::{self, Quantity};
use crate::live::Handle;
use crate::model::{Group, Metric, RunModel, shown};
use leptos::prelude::*;
use protocol::run::RunState;

/// How a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Empty,
    Running,
    Partial,
    Measured,
}

impl Standing {
    fn class(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Running => "running",
            Self::Partial => "partial",
            Self::Measured => "measured",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Shows {
    standing: Standing,
    main: Quantity,
    raw: Option<f64>,
    others: String,
    note: String,
    /// Share of the full scale in percent.
    share: f64,
}

fn shows(model: &RunModel, group: usize, metric: Metric) -> Shows {
    let s = shown(model, group, metric);
    let running = model.running() == Some(group) && model.layout.is_none();
    let live = running.then(|| model.reading()).flatten();
    let passes = model.groups.get(group).map_or(0, |g| g.steps.len() - g.warmups);
    let scored = model.groups.get(group).map_or(0, |g| g.scored(&model.record.results).count());
    let standing = match (running, scored) {
        (true, _) => Standing::Running,
        (false, 0) => Standing::Empty,
        (false, n) if n < passes && model.record.state != RunState::Running => Standing::Partial,
        _ => Standing::Measured,
    };
    // While the file is laid out the reading is of that, not of this cell.
    let (main, raw) = match model.layout {
        Some(_) => (Quantity::unknown(metric.unit()), None),
        None => (s.main, s.raw),
    };
    let others = if model.layout.is_some() { Vec::new() } else { s.others };
    let (full, _) = model.full_scale();
    let bw = live.map(|r| r.bw).or_else(|| model.value(group, Metric::Throughput)).unwrap_or(0.0);
    Shows {
        standing,
        main,
        raw,
        others: others.iter().take(2).map(|(_, q)| q.text()).collect::<Vec<_>>().join(" \u{b7} "),
        note: match standing {
            Standing::Empty => String::new(),
            Standing::Running => match model.pass() {
                _ if model.pause_ms.is_some() => "pausing".into(),
                Some((n, of)) if of > 1 => format!("pass {n}/{of}"),
                _ => "now".into(),
            },
            Standing::Partial => format!("{scored} of {passes} passes"),
            Standing::Measured => s.note.trim_start_matches("mean, ").to_owned(),
        },
        share: if full > 0.0 { (bw / full * 100.0).clamp(0.0, 100.0) } else { 0.0 },
    }
}

/// A cell; choosing it shows its curve and its passes.
#[component]
pub(crate) fn Cell(
    handle: Handle,
    /// Which group.
    index: usize,
    /// What is shown large.
    metric: Signal<Metric>,
    /// The group whose curve is open.
    group: Signal<usize>,
    /// Set when this cell is chosen.
    chosen: RwSignal<Option<usize>>,
    /// Shown inside the cell; in a grid the headings say it.
    #[prop(optional)]
    label: String,
) -> impl IntoView {
    let shows = Memo::new(move |_| {
        let read = |m: &RunModel| shows(m, index, metric.get());
        let running = handle.run(|m| m.running() == Some(index)).unwrap_or(false);
        if running { handle.numbers(read) } else { handle.run(read) }
    });
    let text = move |f: fn(&Shows) -> String| move || shows.with(|s| s.as_ref().map(f));
    let named = |g: &Group| (g.cell.clone(), g.label.clone(), g.direction().name());
    let (key, name, colour) =
        handle.once(|m| m.groups.get(index).map(named)).flatten().unwrap_or((None, String::new(), ""));
    view! {
        <button
            type="button"
            class=move || format!("cell {colour} {}", shows.with(|s| s.as_ref().map_or("", |s| s.standing.class())))
            data-testid="cell"
            data-label=name
            data-row=key.as_ref().map(|k| k.row.clone())
            data-column=key.as_ref().map(|k| k.column.name())
            data-value=move || shows.with(|s| s.as_ref().and_then(|s| s.raw).map(|v| v.to_string()))
            aria-pressed=move || (group.get() == index).to_string()
            on:click=move |_| chosen.set(Some(index))
        >
            {(!label.is_empty()).then(|| view! { <span class="label">{label}</span> })}
            <span class="main">
                <span class="value">{text(|s| s.main.value.clone())}</span>
                <span class="unit">" " {text(|s| s.main.unit.to_owned())}</span>
            </span>
            <span class="note">{text(|s| s.note.clone())}</span>
            <span class="sub">{text(|s| s.others.clone())}</span>
            <span class="bar" aria-hidden="true">
                <span style:width=move || format!("{}%", shows.with(|s| s.as_ref().map_or(0.0, |s| s.share)))></span>
            </span>
        </button>
    }
}

/// What the bars are a share of, in words; empty while nothing is measured.
pub(crate) fn scale(model: &RunModel) -> String {
    match model.full_scale() {
        (full, true) => format!(
            "Bars: share of the link\u{2019}s ceiling, {}.",
            format::throughput(protocol::units::BytesPerSecond(full)).text()
        ),
        (full, false) if full > 0.0 => "Bars: share of the best.".into(),
        _ => String::new(),
    }
}
