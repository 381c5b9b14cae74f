//! Results: a table to scan, filter, open, delete, compare from, and bring results of other hosts into.

use crate::api;
use crate::format;
use crate::live::Client;
use crate::model::{Entry, Found, comparison};
use crate::part::{Delete, Notice, when};
use crate::route::Router;
use leptos::prelude::*;
use protocol::error::ErrorBody;
use protocol::run::RunState;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

/// What is ticked: kind and id, in the order of ticking.
type Selected = RwSignal<Vec<(&'static str, String)>>;

async fn everything() -> Result<Vec<Entry>, ErrorBody> {
    Ok(Entry::list(api::runs().await?, &api::experiments().await?))
}

/// The page.
#[component]
pub(crate) fn ResultsPage(
    /// Experiments alone.
    #[prop(optional)]
    experiments: bool,
) -> impl IntoView {
    let client = expect_context::<Client>();
    let router = expect_context::<Router>();
    let entries = RwSignal::new(None::<Vec<Entry>>);
    let error = RwSignal::new(None);
    let filter = RwSignal::new(String::new());
    let selected: Selected = RwSignal::new(Vec::new());
    let load = move || {
        spawn_local(async move {
            match everything().await {
                Ok(list) => {
                    let listed = |(kind, id): &(&str, String)| list.iter().any(|e| e.kind == *kind && e.id == *id);
                    let _ = selected.try_update(|s| s.retain(listed));
                    let _ = entries.try_set(Some(list));
                }
                Err(e) => drop(error.try_set(Some(e))),
            }
        });
    };
    Effect::new(move || {
        client.list.track();
        load();
    });
    let found = Memo::new(move |_| {
        let filter = filter.get();
        entries.with(|e| {
            e.as_ref().map(|all| {
                all.iter()
                    .filter(|e| e.matches(&filter) && !(experiments && e.kind == "runs"))
                    .cloned()
                    .collect::<Vec<_>>()
            })
        })
    });
    let address = Memo::new(move |_| selected.with(|s| comparison(s)));
    let compare = move |_| {
        if let Ok(address) = address.get_untracked() {
            router.open(&address);
        }
    };
    let gone = move |()| load();
    let row = move |entry: Entry| view! { <Row entry selected error gone/> };
    let empty = move || {
        let none = found.with(|f| f.as_ref().is_some_and(Vec::is_empty));
        none.then(|| nothing(filter.with(String::is_empty), client.operates()))
    };
    view! {
        <div class="page">
            <header class="head">
                <h1>{if experiments { "Experiments" } else { "Results" }}</h1>
                <p class="tools">
                    <label for="filter" class="visually-hidden">"Filter"</label>
                    <input
                        id="filter"
                        type="search"
                        placeholder="Filter by drive, test, target"
                        autocomplete="off"
                        on:input=move |ev| filter.set(event_target_value(&ev))
                    />
                    <button
                        type="button"
                        id="compare"
                        class="button"
                        disabled=move || address.with(Result::is_err)
                        on:click=compare
                    >
                        "Compare"
                    </button>
                    <span class="fine" aria-live="polite">{move || address.get().err()}</span>
                    <Show when=move || client.operates()>
                        <Import selected error gone/>
                    </Show>
                </p>
            </header>
            {move || error.get().map(|error| view! { <Notice error/> })}
            <Show when=move || found.with(|f| f.as_ref().is_some_and(|f| !f.is_empty()))>
                <table class="list">
                    <thead>
                        <tr>
                            <th scope="col"><span class="visually-hidden">"Select"</span></th>
                            <th scope="col">"When"</th>
                            <th scope="col">"Drive"</th>
                            <th scope="col">"What"</th>
                            <th scope="col">"Found"</th>
                            <th scope="col">"State"</th>
                            <th scope="col"><span class="visually-hidden">"Actions"</span></th>
                        </tr>
                    </thead>
                    <tbody>
                        <For
                            each=move || found.get().unwrap_or_default()
                            key=|e| (e.kind, e.id.clone(), e.state, seen(&e.found))
                            children=row
                        />
                    </tbody>
                </table>
            </Show>
            {empty}
        </div>
    }
}

/// Said instead of an empty table.
fn nothing(at_all: bool, operates: bool) -> AnyView {
    if !at_all {
        return view! { <p class="nothing">"No result has all of these words."</p> }.into_any();
    }
    if !operates {
        return view! { <p class="nothing">"Nothing measured yet."</p> }.into_any();
    }
    view! {
        <p class="nothing">
            "Nothing measured yet. " <a href="/">"Measure a drive"</a> " or " <a href="/brakes">"find its brakes"</a> "."
        </p>
    }
    .into_any()
}

/// What was found, as far as a line must be drawn anew when it changes.
fn seen(found: &Found) -> String {
    match found {
        Found::Nothing => String::new(),
        Found::Speed(headline) => headline.bw.0.to_string(),
        Found::Sentence(sentence) => sentence.clone(),
    }
}

/// Takes an experiment of another host from its file, and ticks it, so that it can be compared at once.
#[component]
fn Import(selected: Selected, error: RwSignal<Option<ErrorBody>>, #[prop(into)] gone: Callback<()>) -> impl IntoView {
    let said = RwSignal::new(None::<String>);
    let import = move |ev: web_sys::Event| {
        let input = event_target::<web_sys::HtmlInputElement>(&ev);
        let Some(file) = input.files().and_then(|files| files.get(0)) else { return };
        // Choosing the same file again is a change, too.
        input.set_value("");
        let name = file.name();
        said.set(Some(format!("Reading {name}")));
        error.set(None);
        spawn_local(async move {
            let answer = api::import(JsValue::from(file)).await;
            let words = match answer {
                Ok((id, notes)) => {
                    let _ = selected.try_update(|s| {
                        s.retain(|(_, known)| *known != id);
                        s.push(("experiments", id));
                    });
                    gone.try_run(());
                    std::iter::once(format!("{name} is in the list.")).chain(notes).collect::<Vec<_>>().join(" ")
                }
                Err(e) => {
                    let _ = error.try_set(Some(e));
                    String::new()
                }
            };
            let _ = said.try_set(Some(words));
        });
    };
    view! {
        <label class="button">
            "Import"
            <input type="file" id="import" class="visually-hidden" accept=".json,application/json" on:change=import/>
        </label>
        <span class="fine" role="status" data-testid="imported">{said}</span>
    }
}

/// One result.
#[component]
fn Row(
    entry: Entry,
    selected: Selected,
    error: RwSignal<Option<ErrorBody>>,
    #[prop(into)] gone: Callback<()>,
) -> impl IntoView {
    let (href, noun) = (entry.href(), entry.noun());
    let Entry { kind, id, state, title, target, drive, started_at, from, found } = entry;
    let own = StoredValue::new((kind, id.clone()));
    let is_selected = Memo::new(move |_| selected.with(|s| own.with_value(|own| s.contains(own))));
    let toggle = move |_| {
        selected.update(|s| match s.iter().position(|x| own.with_value(|own| x == own)) {
            Some(at) => drop(s.remove(at)),
            None => s.push(own.get_value()),
        });
    };
    let started = when(&started_at);
    let label = format!("Select {title} of {started}");
    let found = match found {
        Found::Nothing => None,
        Found::Sentence(sentence) => Some(view! { <span>{sentence}</span> }.into_any()),
        Found::Speed(h) => {
            let q = format::throughput(h.bw);
            let why = h.not_comparable.map(|why| format!(" \u{b7} not comparable: {why}"));
            Some(
                view! {
                    <span class="value">{q.value}</span>
                    <span class="unit">" " {q.unit}</span>
                    <span class="fine">{h.label} {why}</span>
                }
                .into_any(),
            )
        }
    };
    let what = from.map_or_else(|| noun.to_owned(), |host| format!("{noun} from {host}"));
    // A run that is on is on Measure.
    let watch = if kind == "runs" { "/".to_owned() } else { href.clone() };
    view! {
        <tr data-run=(kind == "runs").then(|| id.clone()) data-result=id.clone() class:selected=move || is_selected.get()>
            <td>
                <input
                    type="checkbox"
                    aria-label=label
                    disabled=!state.ended()
                    prop:checked=move || is_selected.get()
                    on:change=toggle
                />
            </td>
            <td class="when"><a href=href>{started}</a></td>
            <td>{drive.unwrap_or_else(|| "not known".into())} <span class="fine">{target}</span></td>
            <td>{title} <span class="fine">{what}</span></td>
            <td class="found">{found}</td>
            <td class="state">{state.name()}</td>
            <td class="actions">
                {if state == RunState::Running {
                    view! { <a href=watch>"Watch"</a> }.into_any()
                } else {
                    view! { <Delete id=id.clone() kind error gone/> }.into_any()
                }}
            </td>
        </tr>
    }
}
