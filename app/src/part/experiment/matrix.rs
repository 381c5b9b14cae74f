//! The trials filling in: a column for each block, drawn anew only while something happens in it.

use crate::html::Html;
use crate::live::Client;
use crate::model::{Cell, Matrix};
use leptos::prelude::*;
use web_sys::{Element, KeyboardEvent};

/// Place of a cell: block, configuration, workload.
type At = (u32, u32, usize);

impl Cell {
    fn class(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Running => "running",
            Self::Counts => "counts",
            Self::Repeated => "counts repeated",
            Self::Void => "void",
        }
    }
}

/// The matrix, and what its cells mean.
#[component]
pub(crate) fn Trials() -> impl IntoView {
    let client = expect_context::<Client>();
    let read = move |f: fn(&Matrix) -> String| client.handle.experiment(|e| f(&Matrix::of(&e.live)));
    let labels = Memo::new(move |_| read(labels));
    let blocks = Memo::new(move |_| client.handle.experiment(|e| Matrix::of(&e.live).blocks).unwrap_or_default());
    let void = Memo::new(move |_| read(void));
    let cursor = RwSignal::new(None::<At>);
    let words = move || {
        let (b, c, w) = cursor.get()?;
        client.handle.experiment(|e| Matrix::of(&e.live).words(b, c, w)).flatten()
    };
    let point = move |target: Element| {
        if let Some(cell) = target.get_attribute("data-at") {
            let mut parts = cell.split(' ').filter_map(|p| p.parse().ok());
            cursor.set(parts.next().zip(parts.next()).zip(parts.next()).map(|((b, c), w)| (b, c, w as usize)));
        }
    };
    let key = move |ev: KeyboardEvent| {
        let shape =
            client.handle.experiment(|e| (Matrix::of(&e.live).workloads.len(), e.live.head.configurations.len()));
        let Some(next) = shape.and_then(|shape| step(&ev.key(), cursor.get_untracked(), blocks.get_untracked(), shape))
        else {
            return;
        };
        ev.prevent_default();
        cursor.set(Some(next));
    };
    // The cell under the cursor; columns are drawn as a whole and know nothing of it.
    Effect::new(move |before: Option<Option<Element>>| {
        if let Some(Some(before)) = before {
            let _ = before.remove_attribute("data-cursor");
        }
        let (b, c, w) = cursor.get()?;
        let cell = document().query_selector(&format!("[data-at='{b} {c} {w}']")).ok()??;
        let _ = cell.set_attribute("data-cursor", "");
        Some(cell)
    });
    let column = move |block: u32| {
        let cells = Memo::new(move |_| client.handle.experiment(|e| column(&Matrix::of(&e.live), block)));
        view! { <div class="block" inner_html=move || cells.get()></div> }
    };
    view! {
        <figure class="matrix">
            <figcaption>
                <h2>"Trials"</h2>
                <output class="fine" aria-live="polite" data-testid="trial-words">
                    {move || words().unwrap_or_else(|| "Each column is a block; each configuration has a cell for each workload.".into())}
                </output>
            </figcaption>
            <div
                class="cells"
                tabindex="0"
                role="img"
                aria-label="Trials by block and configuration. Arrow keys walk the cells."
                data-testid="trials"
                on:pointerover=move |ev| point(event_target(&ev))
                on:pointerleave=move |_| cursor.set(None)
                on:keydown=key
                on:blur=move |_| cursor.set(None)
            >
                <div class="labels" inner_html=move || labels.get()></div>
                <For each=move || 0..blocks.get() key=|block| *block children=column/>
            </div>
            <div inner_html=move || void.get()></div>
        </figure>
    }
}

/// Where an arrow key leads.
fn step(key: &str, at: Option<At>, blocks: u32, (workloads, configurations): (usize, usize)) -> Option<At> {
    let rows = u32::try_from(workloads * configurations).ok().filter(|rows| *rows > 0)?;
    let width = u32::try_from(workloads).ok()?;
    let last = blocks.checked_sub(1)?;
    let (b, row) = at.map_or((last, 0), |(b, c, w)| (b, c * width + u32::try_from(w).unwrap_or_default()));
    let (b, row) = match key {
        "ArrowRight" => ((b + u32::from(at.is_some())).min(last), row),
        "ArrowLeft" => (b.saturating_sub(u32::from(at.is_some())), row),
        "ArrowDown" => (b, (row + u32::from(at.is_some())).min(rows - 1)),
        "ArrowUp" => (b, row.saturating_sub(1)),
        "Home" => (0, row),
        "End" => (last, row),
        _ => return None,
    };
    Some((b, row / width, (row % width) as usize))
}

/// The names of the configurations, each beside its cells.
fn labels(m: &Matrix) -> String {
    let mut h = Html::default();
    for name in m.configurations() {
        h.tag("<div class=\"one\"><span>").text(name).tag("</span>");
        for _ in &m.workloads {
            h.tag("<i></i>");
        }
        h.tag("</div>");
    }
    h.done()
}

fn column(m: &Matrix, block: u32) -> String {
    let mut h = Html::default();
    for (c, _) in (0..).zip(m.configurations()) {
        h.tag("<div class=\"one\">");
        for w in 0..m.workloads.len() {
            h.tag("<i class=\"").tag(m.cell(block, c, w).class()).tag("\" data-at=\"");
            h.text(block).tag(" ").text(c).tag(" ").text(w).tag("\"></i>");
        }
        h.tag("</div>");
    }
    h.done()
}

/// What the cells show as shapes, and why some trials do not count.
fn void(m: &Matrix) -> String {
    let mut h = Html::default();
    h.tag("<p class=\"legend fine\"><span><i class=\"counts\"></i>counts</span><span><i class=\"running\"></i>on now</span>");
    h.tag(
        "<span><i class=\"void\"></i>does not count</span><span><i class=\"counts repeated\"></i>repeated</span></p>",
    );
    let void = m.void();
    if !void.is_empty() {
        h.tag("<details class=\"behind\"><summary>Trials that do not count (").text(void.len()).tag(")</summary><ul>");
        for line in void {
            h.tag("<li>").text(line).tag("</li>");
        }
        h.tag("</ul></details>");
    }
    h.done()
}
