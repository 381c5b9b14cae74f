//! Under which conditions a run was measured, and what limits what it says.

use crate::format;
use crate::live::Handle;
use crate::model::{RunModel, conditions};
use crate::part::Term;
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

/// The panel.
#[component]
pub(crate) fn Conditions(handle: Handle) -> impl IntoView {
    let rows = Memo::new(move |_| handle.run(|m| conditions(&m.record)).unwrap_or_default());
    let limits = Memo::new(move |_| handle.run(caveats).unwrap_or_default());
    let measured = Memo::new(move |_| handle.run(|m| !m.record.results.is_empty()).unwrap_or(false));
    let steps = Memo::new(move |_| handle.run(|m| m.record.results.len()).unwrap_or(0));
    let cpu = Memo::new(move |_| handle.numbers(RunModel::cpu).flatten());
    // The elements stay; only their numbers move, so that the focus is not lost 20 times a second.
    let engine = Signal::derive(move || cpu.get().map(|(engine, _)| engine));
    let machine = Signal::derive(move || cpu.get().and_then(|(_, machine)| machine));
    let limit = move || {
        let found = limits.get();
        if found.is_empty() {
            let text = if measured.get() { "Nothing found that limits these numbers." } else { "" };
            return view! { <p class="fine">{text}</p> }.into_any();
        }
        let all = steps.get();
        let item = |(message, n): (String, usize)| {
            let of = (n < all).then(|| format!(" ({n} of {all} passes)"));
            view! { <li>{message} <span class="fine">{of}</span></li> }
        };
        view! {
            <h3>"What limits this run"</h3>
            <ul class="limits" data-testid="caveats">{found.into_iter().map(item).collect_view()}</ul>
        }
        .into_any()
    };
    view! {
        <div class="conditions" data-testid="conditions">
            <h2>"Conditions"</h2>
            <dl class="meters">
                <Meter name="Engine CPU" share=engine of="of one core"/>
                <Meter name="Machine CPU" share=machine of="of all"/>
            </dl>
            {limit}
            <dl class="facts">
                <For each=move || rows.get() key=|c| (c.name, c.value.clone()) let(c)>
                    <div>
                        <dt>
                            <Term name=c.name/>
                        </dt>
                        <dd>{c.value.clone()}</dd>
                    </div>
                </For>
            </dl>
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
