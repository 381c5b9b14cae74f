//! One button: Start, which becomes Stop.

use super::setup::Desk;
use crate::api;
use crate::live::Client;
use crate::model::{Experiment, State};
use crate::part::Notice;
use leptos::prelude::*;
use protocol::error::{ErrorBody, ErrorCode};
use wasm_bindgen_futures::spawn_local;

/// The button, what keeps it from working, and what went wrong.
#[component]
pub(crate) fn Start(desk: Desk) -> impl IntoView {
    let client = expect_context::<Client>();
    let running = Memo::new(move |_| client.handle.structure(State::running));
    let queued = Memo::new(move |_| client.handle.structure(|s| s.queue.len()));
    let stopping = RwSignal::new(false);
    Effect::new(move || {
        if !running.get() {
            stopping.set(false);
        }
    });
    let stop = move |_| {
        let Some(id) = client.handle.once(|m| m.record.id.clone()) else { return };
        stopping.set(true);
        spawn_local(async move {
            if let Err(e) = api::delete("runs", &id).await {
                let _ = desk.error.try_set(Some(e));
                let _ = stopping.try_set(false);
            }
        });
    };
    let problem = move || {
        let here = |p: &crate::model::Problem| !running.get() && (p.field.is_empty() || p.field == "target");
        desk.problem.get().filter(here).map(|p| p.message)
    };
    let occupied = Memo::new(move |_| client.handle.experiment(Experiment::on).unwrap_or(false));
    let busy = move || desk.error.with(|e| e.as_ref().is_some_and(|e| e.code == ErrorCode::Busy));
    let waiting = move || match queued.get() {
        0 => None,
        1 => Some("1 run waits".to_owned()),
        n => Some(format!("{n} runs wait")),
    };
    view! {
        <div class="go">
            <Show
                when=move || running.get()
                fallback=move || {
                    view! {
                        <button
                            type="submit"
                            id="start"
                            class="primary"
                            disabled=move || desk.starting.get() || desk.problem.get().is_some()
                        >
                            {move || if desk.starting.get() { "Starting" } else { "Start" }}
                        </button>
                    }
                }
            >
                <button type="button" id="stop" class="stop" disabled=move || stopping.get() on:click=stop>
                    {move || if stopping.get() { "Stopping" } else { "Stop" }}
                </button>
            </Show>
            <Show when=move || occupied.get()>
                <p class="fine" data-testid="occupied">
                    "An experiment is on, and a run would disturb it. Start the run after it, or stop the experiment first."
                </p>
            </Show>
            <p class="problem" id="setup-problem">{problem}</p>
            <p class="fine">{waiting}</p>
            {move || desk.error.get().map(|error: ErrorBody| view! { <Notice error/> })}
            <Show when=busy>
                <button type="button" class="quiet" id="queue" on:click=move |_| desk.start(true)>
                    "Start it after that one"
                </button>
            </Show>
        </div>
    }
}
