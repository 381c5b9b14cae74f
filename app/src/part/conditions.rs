//! Under which conditions a run was measured, and what limits what it says.

use crate::format;
use crate::live::Handle;
use crate::model::{RunModel, conditions};
use crate::part::Term;
use leptos::prelude::*;

/// What to know before believing the numbers: each caveat once, with how many steps it concerns.
fn caveats(model: &RunModel) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    let results = &model.record.results;
    let fallbacks = results.iter().flat_map(|r| r.engine.fallbacks.iter().map(|f| format!("Not used: {f}.")));
    let messages = results.iter().flat_map(|r| r.caveats.iter().map(|c| c.message.clone())).chain(fallbacks);
    for message in messages {
        match found.iter_mut().find(|(m, _)| *m == message) {
            Some((_, n)) => *n += 1,
            None => found.push((message, 1)),
        }
    }
    found
}

/// The panel.
#[component]
pub(crate) fn Conditions(handle: Handle) -> impl IntoView {
    let rows = Memo::new(move |_| handle.run(|m| conditions(&m.record)).unwrap_or_default());
    let limits = Memo::new(move |_| handle.run(caveats).unwrap_or_default());
    let measured = Memo::new(move |_| handle.run(|m| !m.record.results.is_empty()).unwrap_or(false));
    let steps = Memo::new(move |_| handle.run(|m| m.record.results.len()).unwrap_or(0));
    let cpu = Memo::new(move |_| handle.numbers(RunModel::cpu).flatten());
    let meter = |name: &'static str, share: f64, text: String| {
        view! {
            <div class="meter">
                <dt>
                    <Term name/>
                </dt>
                <dd>{text}</dd>
                <div class="bar" aria-hidden="true">
                    <span style:width=format!("{:.1}%", (share * 100.0).clamp(0.0, 100.0))></span>
                </div>
            </div>
        }
    };
    let meters = move || {
        cpu.get().map(|(engine, machine)| {
            view! {
                <dl class="meters">
                    {meter("Engine CPU", engine, format!("{} of one core", format::percent(engine)))}
                    {machine.map(|m| meter("Machine CPU", m, format!("{} of all", format::percent(m))))}
                </dl>
            }
        })
    };
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
            {meters}
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
