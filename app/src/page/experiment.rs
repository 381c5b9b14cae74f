//! One experiment: live while it is on, afterwards as it is stored.

use crate::api;
use crate::live::{Client, Connection};
use crate::model::{Stored, standing};
use crate::part::{Advice, Forest, Notice, Now, Steering, Trials, when};
use leptos::prelude::*;
use protocol::error::ErrorBody;
use wasm_bindgen_futures::spawn_local;

/// The page.
#[component]
pub(crate) fn ExperimentPage(id: String) -> impl IntoView {
    let client = expect_context::<Client>();
    let own = id.clone();
    let on = Memo::new(move |_| client.handle.experiment(|e| e.on() && e.live.head.id == own).unwrap_or(false));
    move || {
        let id = id.clone();
        if on.get() { view! { <Live id/> }.into_any() } else { view! { <Ended id/> }.into_any() }
    }
}

/// While it is on: the sentence so far, how long it takes, and how that comes about.
#[component]
fn Live(id: String) -> impl IntoView {
    let client = expect_context::<Client>();
    let error = RwSignal::new(None::<ErrorBody>);
    let about = Memo::new(move |_| {
        client.handle.experiment(|e| {
            let head = &e.live.head;
            let drive = head.drive.as_deref().unwrap_or("drive not known");
            format!("{} \u{b7} {drive} \u{b7} {} \u{b7} since {}", head.title, head.target, when(&head.started_at))
        })
    });
    let headline = Memo::new(move |_| {
        client.handle.experiment(|e| {
            let known = &e.live.headline;
            if known.is_empty() { e.live.head.design.question().to_owned() } else { known.clone() }
        })
    });
    let standing = Memo::new(move |_| client.handle.experiment(standing));
    let note = Memo::new(move |_| client.handle.experiment(|e| e.live.note.clone()));
    view! {
        <div class="page live" class:stale=move || client.connection.get() == Connection::Lost>
            <header class="head">
                <p class="fine">{move || about.get()}</p>
                <h1 data-testid="headline" aria-live="polite">{move || headline.get()}</h1>
                <p data-testid="standing">{move || standing.get()}</p>
                <p class="fine note" role="status" data-testid="note">{move || note.get()}</p>
                <div class="actions"><Steering id error/></div>
                {move || error.get().map(|error| view! { <Notice error/> })}
            </header>
            <Now/>
            <Forest/>
            <Trials/>
        </div>
    }
}

async fn stored(id: &str) -> Result<(Stored, String), ErrorBody> {
    let file = api::experiment(id, "").await?;
    let report = api::experiment(id, "/report").await?;
    Ok((Stored::of(&serde_json::from_str(&file).unwrap_or_default()), report))
}

/// After its end: what was found, and what to do with it.
#[component]
fn Ended(id: String) -> impl IntoView {
    let client = expect_context::<Client>();
    let loaded = RwSignal::new(None::<Result<(Stored, String), ErrorBody>>);
    let own = id.clone();
    Effect::new(move || {
        client.list.track();
        let id = own.clone();
        spawn_local(async move {
            let answer = stored(&id).await;
            // What was there once does not change any more; it may have been removed meanwhile.
            if answer.is_ok() || loaded.try_with_untracked(Option::is_none) == Some(true) {
                let _ = loaded.try_set(Some(answer));
            }
        });
    });
    move || match loaded.get() {
        None => view! { <p class="fine waiting">"Loading"</p> }.into_any(),
        Some(Err(error)) => view! {
            <section class="message">
                <h1>"This experiment cannot be shown"</h1>
                <Notice error/>
                <p><a href="/results">"All results"</a></p>
            </section>
        }
        .into_any(),
        Some(Ok((stored, report))) => view! { <Found id=id.clone() stored report/> }.into_any(),
    }
}

/// A stored experiment.
#[component]
fn Found(id: String, stored: Stored, report: String) -> impl IntoView {
    let error = RwSignal::new(None::<ErrorBody>);
    let asked = RwSignal::new(false);
    let operates = expect_context::<Client>().operates();
    let elsewhere = if stored.imported { " \u{b7} run elsewhere" } else { "" };
    let about =
        format!("{} \u{b7} {} \u{b7} {}{elsewhere}", when(&stored.started_at), stored.target, stored.state.name());
    let own = id.clone();
    let resume = move |_| {
        if asked.get_untracked() {
            return;
        }
        asked.set(true);
        let id = own.clone();
        spawn_local(async move {
            if let Err(e) = api::steer(&id, "resume").await {
                let _ = error.try_set(Some(e));
                let _ = asked.try_set(false);
            }
        });
    };
    let file = |format: &str| format!("/api/v1/experiments/{id}/export?format={format}");
    view! {
        <div class="page ended">
            <header class="head">
                <h1>{stored.title.clone()}</h1>
                <p class="fine" data-testid="experiment-state">{about}</p>
                {stored.error.clone().map(|error| view! { <Notice error/> })}
                <div class="actions">
                    {(stored.resumable() && operates).then(|| view! {
                        <button type="button" id="resume" aria-disabled=move || asked.get().then_some("true") on:click=resume>
                            {move || if asked.get() { "Going on" } else { "Resume" }}
                        </button>
                    })}
                    <a class="button" href=file("html") download="" data-export="html">"Report as one file"</a>
                    <a class="button" href=file("json") download="" data-export="json">"Data as JSON"</a>
                </div>
                {move || error.get().map(|error| view! { <Notice error/> })}
            </header>
            // The server escapes every text in it.
            <div class="experiment-report" data-testid="report" inner_html=report></div>
            {stored.has_advice().then(|| view! { <Advice id=id.clone() stored=stored.clone()/> })}
        </div>
    }
}
