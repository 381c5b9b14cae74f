//! Measure: set up on the left, the instrument in the middle, the conditions on the right.

use super::run::RunView;
use crate::live::{Client, Connection};
use crate::part::{Conditions, Desk, Face, Notice, SetupPanel};
use leptos::prelude::*;
use protocol::run::RunState;

/// The page: what to measure for whoever may start it, and what is measured for whoever looks on.
#[component]
pub(crate) fn MeasurePage() -> impl IntoView {
    if expect_context::<Client>().operates() { view! { <Bench/> }.into_any() } else { view! { <Watched/> }.into_any() }
}

/// The run that is on, else the last one.
#[component]
fn Watched() -> impl IntoView {
    let client = expect_context::<Client>();
    let id = Memo::new(move |_| client.handle.run(|m| m.record.id.clone()));
    let stale = Signal::derive(move || client.connection.get() == Connection::Lost);
    move || match id.get() {
        Some(id) => view! { <RunView handle=client.handle id stale/> }.into_any(),
        None => view! {
            <section class="message">
                <h1>"Nothing is measured now"</h1>
                <p>"A run shows here as soon as it starts. " <a href="/results">"Look at the results"</a></p>
            </section>
        }
        .into_any(),
    }
}

#[component]
fn Bench() -> impl IntoView {
    let client = expect_context::<Client>();
    let desk = Desk::new();
    let state = Memo::new(move |_| client.handle.run(|m| (m.record.id.clone(), m.record.state)));
    // The live run while it is on, and after it until something else is set up; before, the plan.
    let live = Memo::new(move |_| match state.get() {
        Some((_, RunState::Running)) => true,
        Some(_) => !desk.touched.get(),
        None => false,
    });
    let handle = move || if live.get() { client.handle } else { desk.plan };
    let error = Memo::new(move |_| client.handle.structure(|s| s.error.clone()));
    let outdated = move || live.get() && client.connection.get() == Connection::Lost;
    let link = move || {
        let (id, state) = state.get().filter(|_| live.get())?;
        let text = if state == RunState::Running { "This run\u{2019}s address" } else { "Open this result" };
        Some(view! { <a href=format!("/runs/{id}") data-testid="open-run">{text}</a> })
    };
    view! {
        <h1 class="visually-hidden">"Measure"</h1>
        <div class="bench" class:idle=move || !live.get()>
            <SetupPanel desk/>
            <div class="instrument" class:stale=outdated>
                {move || error.get().map(|error| view! { <Notice error/> })}
                {move || view! { <Face handle=handle()/> }}
                <p class="fine">{link}</p>
            </div>
            <aside class:stale=outdated aria-label="Conditions">
                {move || view! { <Conditions handle=handle()/> }}
            </aside>
        </div>
    }
}
