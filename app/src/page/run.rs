//! One run: live while it is on, afterwards as it is stored.

use crate::api;
use crate::live::{Client, Connection, Handle};
use crate::model::{RunModel, State};
use crate::part::{Conditions, Delete, Face, Notice, when};
use crate::route::{Route, Router};
use leptos::prelude::*;
use protocol::error::ErrorBody;
use protocol::run::RunState;
use wasm_bindgen_futures::spawn_local;

async fn stored(id: &str) -> Result<RunModel, ErrorBody> {
    let mut model = RunModel::new(api::run(id).await?);
    // A result without its curve is still a result.
    if let Ok(samples) = api::samples(id).await {
        model.backfill(&samples);
    }
    Ok(model)
}

/// The page.
#[component]
pub(crate) fn RunPage(id: String) -> impl IntoView {
    let client = expect_context::<Client>();
    let id = StoredValue::new(id);
    let own = RwSignal::new(None::<Result<Handle, ErrorBody>>);
    let owner = Owner::current();
    let state = Memo::new(move |_| {
        let run = client.handle.run(|m| (m.record.id == id.get_value()).then_some(m.record.state)).flatten();
        run.filter(|s| *s == RunState::Running)
    });
    let is_live = move || state.get().is_some();
    Effect::new(move || {
        client.list.track();
        let ended = |h: &Handle| h.once(|m| m.record.state.ended()).unwrap_or(false);
        // What has ended does not change any more; asking again would only miss it once it is deleted.
        if is_live() || own.with_untracked(|o| o.as_ref().is_some_and(|o| o.as_ref().is_ok_and(ended))) {
            return;
        }
        let owner = owner.clone();
        spawn_local(async move {
            let result = stored(&id.try_get_value().unwrap_or_default()).await;
            // Signals made after an await belong to the page, and go with it.
            let Some(owner) = owner.filter(|_| !own.is_disposed()) else { return };
            let handle = result.map(|model| owner.with(|| Handle::new(State::of(model))));
            let _ = own.try_set(Some(handle));
        });
    });
    let outdated = move || is_live() && client.connection.get() == Connection::Lost;
    view! {
        {move || {
            if is_live() {
                return view! { <RunView handle=client.handle id=id.get_value() stale=Signal::derive(outdated)/> }.into_any();
            }
            match own.get() {
                None => view! { <p class="fine waiting">"Loading"</p> }.into_any(),
                Some(Ok(handle)) => view! { <RunView handle id=id.get_value() stale=false/> }.into_any(),
                Some(Err(error)) => {
                    view! {
                        <section class="message">
                            <h1>"This run cannot be shown"</h1>
                            <Notice error/>
                            <p><a href="/results">"All results"</a></p>
                        </section>
                    }
                        .into_any()
                }
            }
        }}
    }
}

/// Head, face and conditions of a run.
#[component]
pub(super) fn RunView(handle: Handle, id: String, #[prop(into)] stale: Signal<bool>) -> impl IntoView {
    let router = expect_context::<Router>();
    let error = RwSignal::new(None);
    let title = move || handle.run(|m| m.record.spec.title());
    let about = move || {
        handle.run(|m| {
            let r = &m.record;
            format!("{} \u{b7} {} \u{b7} {}", when(&r.started_at), r.spec.target, r.state.name())
        })
    };
    let ended = Memo::new(move |_| handle.run(|m| m.record.state.ended()).unwrap_or(false));
    let export = format!("/api/v1/runs/{id}/export");
    let file = format!("brakecheck-{id}.json");
    let id = StoredValue::new(id);
    view! {
        <div class="page">
            <header class="head">
                <h1>{title}</h1>
                <p class="fine" data-testid="run-state">{about}</p>
                <Show when=move || ended.get()>
                    <p class="actions">
                        <a class="button" href=export.clone() download=file.clone() data-testid="export">
                            "Export JSON"
                        </a>
                        <Delete id=id.get_value() error gone=move |()| router.go(&Route::Results)/>
                    </p>
                </Show>
            </header>
            {move || error.get().map(|error| view! { <Notice error/> })}
            <div class="bench two">
                <div class="instrument" class:stale=move || stale.get()>
                    <Face handle/>
                </div>
                <aside aria-label="Conditions">
                    <Conditions handle/>
                </aside>
            </div>
        </div>
    }
}
