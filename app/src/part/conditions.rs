//! Under which conditions a run was measured, and what limits what it says.

use crate::format;
use crate::html::Html;
use crate::live::Handle;
use crate::model::{Condition, RunModel, conditions};
use crate::part::Term;
use crate::part::term::explain;
use leptos::prelude::*;
use protocol::result::CaveatKind;

/// What to know before believing the numbers: each kind of caveat once, with how many steps it concerns. Messages of
/// one kind may differ in a figure; the first stands for all.
fn caveats(model: &RunModel) -> Vec<(String, usize)> {
    let mut found: Vec<(Option<CaveatKind>, String, usize)> = Vec::new();
    let results = &model.record.results;
    let fallbacks = results.iter().flat_map(|r| r.engine.fallbacks.iter().map(|f| (None, format!("Not used: {f}."))));
    let messages = results.iter().flat_map(|r| r.caveats.iter().map(|c| (Some(c.kind), c.message.clone())));
    for (kind, message) in messages.chain(fallbacks) {
        let same = |known: &&mut (Option<CaveatKind>, String, usize)| match kind {
            Some(_) => known.0 == kind,
            None => known.1 == message,
        };
        match found.iter_mut().find(same) {
            Some((.., n)) => *n += 1,
            None => found.push((kind, message, 1)),
        }
    }
    found.into_iter().map(|(_, message, n)| (message, n)).collect()
}

/// What limits the run, as HTML.
fn limits(model: &RunModel) -> String {
    let (found, all) = (caveats(model), model.record.results.len());
    let mut h = Html::default();
    if found.is_empty() {
        let text = if all > 0 { "Nothing found that limits these numbers." } else { "" };
        h.tag("<p class=\"fine\">").text(text).tag("</p>");
        return h.done();
    }
    h.tag("<h3>What limits this run</h3><ul class=\"limits\" data-testid=\"caveats\">");
    for (message, n) in found {
        h.tag("<li>").text(message);
        if n < all {
            h.tag(" <span class=\"fine\">(").text(n).tag(" of ").text(all).tag(" passes)</span>");
        }
        h.tag("</li>");
    }
    h.tag("</ul>");
    h.done()
}

/// Names and values, as HTML.
fn facts(all: &[Condition]) -> String {
    let mut h = Html::default();
    for c in all {
        h.tag("<div><dt>").term(&format!("condition-{}", c.name), c.name, explain(c.name)).tag("</dt><dd>");
        h.text(&c.value).tag("</dd></div>");
    }
    h.done()
}

/// The panel.
#[component]
pub(crate) fn Conditions(handle: Handle) -> impl IntoView {
    let rows = Memo::new(move |_| handle.run(|m| facts(&conditions(&m.record))));
    let found = Memo::new(move |_| handle.run(limits));
    let cpu = Memo::new(move |_| handle.numbers(RunModel::cpu).flatten());
    // The elements stay; only their numbers move, so that the focus is not lost 20 times a second.
    let engine = Signal::derive(move || cpu.get().map(|(engine, _)| engine));
    let machine = Signal::derive(move || cpu.get().and_then(|(_, machine)| machine));
    view! {
        <div class="conditions" data-testid="conditions">
            <h2>"Conditions"</h2>
            <dl class="meters">
                <Meter name="Engine CPU" share=engine of="of one core"/>
                <Meter name="Machine CPU" share=machine of="of all"/>
            </dl>
            <div inner_html=move || found.get()></div>
            <dl class="facts" inner_html=move || rows.get()></dl>
        </div>
    }
}

/// A share with its bar; nothing while it is not known.
#[component]
fn Meter(name: &'static str, share: Signal<Option<f64>>, of: &'static str) -> impl IntoView {
    let known = Memo::new(move |_| share.get().is_some());
    let width = move || format!("{:.1}%", (share.get().unwrap_or(0.0) * 100.0).clamp(0.0, 100.0));
    view! {
        <Show when=move || known.get()>
            <div class="meter">
                <dt>
                    <Term name/>
                </dt>
                <dd>{move || share.get().map(format::percent)} " " {of}</dd>
                <div class="bar" aria-hidden="true">
                    <span style:width=width></span>
                </div>
            </div>
        </Show>
    }
}
