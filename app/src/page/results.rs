//! Results: a table to scan, filter, open, delete, and compare from.

use crate::api;
use crate::format;
use crate::live::Client;
use crate::part::{Delete, Notice, when};
use crate::route::{Route, Router};
use leptos::prelude::*;
use protocol::run::{RunState, RunSummary};
use wasm_bindgen_futures::spawn_local;

/// Whether all words of the filter occur somewhere in the line.
fn matches(run: &RunSummary, filter: &str) -> bool {
    let headline = run.headline.as_ref().map(|h| h.label.as_str());
    let parts = [Some(run.title.as_str()), Some(run.target.as_str()), run.drive.as_deref(), headline];
    let text = parts.into_iter().flatten().chain([run.state.name(), run.id.as_str()]).collect::<Vec<_>>().join(" ");
    let text = text.to_lowercase();
    filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// The page.
#[component]
pub(crate) fn ResultsPage() -> impl IntoView {
    let client = expect_context::<Client>();
    let router = expect_context::<Router>();
    let runs = RwSignal::new(None::<Vec<RunSummary>>);
    let error = RwSignal::new(None);
    let filter = RwSignal::new(String::new());
    let selected = RwSignal::new(Vec::<String>::new());
    let load = move || {
        spawn_local(async move {
            match api::runs().await {
                Ok(list) => {
                    let _ = selected.try_update(|s| s.retain(|id| list.iter().any(|r| r.id == *id)));
                    let _ = error.try_set(None);
                    let _ = runs.try_set(Some(list));
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
        runs.with(|r| r.as_ref().map(|all| all.iter().filter(|r| matches(r, &filter)).cloned().collect::<Vec<_>>()))
    });
    let compare = move |_| {
        if let [a, b] = selected.get_untracked().as_slice() {
            router.go(&Route::Compare(a.clone(), b.clone()));
        }
    };
    let hint = move || match selected.with(Vec::len) {
        0 => "Select two to compare.",
        1 => "Select one more to compare.",
        2 => "",
        _ => "Two at a time can be compared.",
    };
    let row = move |run: RunSummary| view! { <Row run selected error gone=move |()| load()/> };
    let empty = move || match found.get() {
        Some(all) if all.is_empty() && filter.with(String::is_empty) => Some(
            view! { <p class="nothing">"Nothing measured yet. " <a href="/">"Measure a drive"</a> "."</p> }.into_any(),
        ),
        Some(all) if all.is_empty() => {
            Some(view! { <p class="nothing">"No result has all of these words."</p> }.into_any())
        }
        _ => None,
    };
    view! {
        <div class="page">
            <header class="head">
                <h1>"Results"</h1>
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
                        disabled=move || selected.with(Vec::len) != 2
                        on:click=compare
                    >
                        "Compare"
                    </button>
                    <span class="fine" aria-live="polite">{hint}</span>
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
                            <th scope="col" class="figure">"Highest throughput"</th>
                            <th scope="col">"State"</th>
                            <th scope="col"><span class="visually-hidden">"Actions"</span></th>
                        </tr>
                    </thead>
                    <tbody>
                        <For
                            each=move || found.get().unwrap_or_default()
                            key=|r| (r.id.clone(), r.state, r.headline.as_ref().map(|h| h.bw.0.to_bits()))
                            children=row
                        />
                    </tbody>
                </table>
            </Show>
            {empty}
        </div>
    }
}

/// One run.
#[component]
fn Row(
    run: RunSummary,
    selected: RwSignal<Vec<String>>,
    error: RwSignal<Option<protocol::error::ErrorBody>>,
    #[prop(into)] gone: Callback<()>,
) -> impl IntoView {
    let id = run.id.clone();
    let (own, toggled) = (id.clone(), id.clone());
    let is_selected = Memo::new(move |_| selected.with(|s| s.contains(&own)));
    let toggle = move |_| {
        selected.update(|s| match s.iter().position(|x| *x == toggled) {
            Some(at) => drop(s.remove(at)),
            None => s.push(toggled.clone()),
        });
    };
    let started = when(&run.started_at);
    let label = format!("Select {} of {started}", run.title);
    let state = run.state;
    let headline = run.headline.map(|h| {
        let q = format::throughput(h.bw);
        view! {
            <span class="value">{q.value}</span>
            <span class="unit">" " {q.unit}</span>
            <span class="fine">
                {h.label} {h.not_comparable.map(|why| format!(" \u{b7} not comparable: {why}"))}
            </span>
        }
    });
    view! {
        <tr data-run=id.clone() class:selected=move || is_selected.get()>
            <td>
                <input
                    type="checkbox"
                    aria-label=label
                    disabled=!state.ended()
                    prop:checked=move || is_selected.get()
                    on:change=toggle
                />
            </td>
            <td class="when"><a href=format!("/runs/{id}")>{started}</a></td>
            <td>{run.drive.unwrap_or_else(|| "not known".into())} <span class="fine">{run.target}</span></td>
            <td>{run.title}</td>
            <td class="figure">{headline}</td>
            <td class="state">{state.name()}</td>
            <td class="actions">
                {if state == RunState::Running {
                    view! { <a href="/">"Watch"</a> }.into_any()
                } else {
                    view! { <Delete id=id.clone() error gone/> }.into_any()
                }}
            </td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_wants_every_word_in_any_order_and_case() {
        let run = RunSummary {
            id: "r".into(),
            started_at: String::new(),
            state: RunState::Done,
            title: "CrystalDiskMark 8".into(),
            target: "/mnt/ssd".into(),
            drive: Some("Samsung SSD 850".into()),
            host: None,
            headline: None,
        };
        for (filter, found) in [("", true), ("samsung crystal", true), ("SSD done", true), ("samsung intel", false)] {
            assert_eq!(matches(&run, filter), found, "{filter}");
        }
    }
}
