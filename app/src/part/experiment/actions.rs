//! Pause, go on, stop.

use crate::api;
use crate::live::Client;
use leptos::prelude::*;
use protocol::error::ErrorBody;
use wasm_bindgen_futures::spawn_local;

/// The two buttons of an experiment that is on.
#[component]
pub(crate) fn Steering(
    id: String,
    /// Shows what went wrong.
    error: RwSignal<Option<ErrorBody>>,
) -> impl IntoView {
    let client = expect_context::<Client>();
    let paused = Memo::new(move |_| client.handle.experiment(|e| e.live.paused));
    // What was asked for and has not happened yet.
    let asked = RwSignal::new(None::<&'static str>);
    Effect::new(move || {
        paused.track();
        asked.set(None);
    });
    let id = StoredValue::new(id);
    let ask = move |deed: &'static str| {
        if asked.get_untracked().is_some() {
            return;
        }
        asked.set(Some(deed));
        spawn_local(async move {
            let Some(id) = id.try_get_value() else { return };
            if let Err(e) = api::steer(&id, deed).await {
                let _ = error.try_set(Some(e));
                let _ = asked.try_set(None);
            }
        });
    };
    let busy = move || asked.get().map(|_| "true");
    let words = move || match (asked.get(), paused.get()) {
        (Some("pause"), _) => "Pausing after this trial",
        (Some("resume"), _) => "Going on",
        (_, Some(true)) => "Resume",
        _ => "Pause",
    };
    let toggle = move |_| ask(if paused.get_untracked() == Some(true) { "resume" } else { "pause" });
    view! {
        <Show when=move || client.operates()>
            <button type="button" id="pause" aria-disabled=busy on:click=toggle>{words}</button>
            <button type="button" id="stop" aria-disabled=busy on:click=move |_| ask("stop")>
                {move || if asked.get() == Some("stop") { "Stopping" } else { "Stop" }}
            </button>
        </Show>
    }
}
