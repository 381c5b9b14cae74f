//! Under the bar on top, on every page, only when true: that settings are changed, by whom, and how to put them back.

use super::trial::Trial;
use crate::api;
use crate::live::{Client, Power};
use crate::model::{Deed, Leftover, changed, foreign, leftovers};
use crate::part::Notice;
use crate::session::Access;
use leptos::prelude::*;
use protocol::error::ErrorBody;
use wasm_bindgen_futures::spawn_local;

/// What there is to tell.
#[derive(Debug, Clone, Default, PartialEq)]
struct Told {
    changed: Option<String>,
    /// The experiment that has changed them and puts them back.
    experiment: Option<String>,
    foreign: Vec<String>,
    left: Vec<Leftover>,
    notes: Vec<String>,
    error: Option<ErrorBody>,
}

/// The banner.
#[component]
pub(crate) fn Banner() -> impl IntoView {
    let client = expect_context::<Client>();
    let power = expect_context::<Power>();
    let told = Memo::new(move |_| {
        let experiment = client.handle.experiment(|e| e.on().then(|| e.live.head.id.clone())).flatten();
        let told = power.settings(|s| Told {
            experiment: experiment.filter(|_| s.host.changed > 0),
            changed: changed(s.host.changed),
            foreign: s
                .foreign()
                .map(|k| foreign(k, s.drifts.iter().find(|d| d.id == k.id).map(|d| d.ours.as_str())))
                .collect(),
            left: s.report.as_ref().map(|r| leftovers(r, &s.host.knobs)).unwrap_or_default(),
            notes: s.report.as_ref().map(|r| r.notes.clone()).unwrap_or_default(),
            error: s.error.clone(),
        });
        Some(told).filter(|t| client.session.get().is_some_and(Access::sees) && *t != Told::default())
    });
    let restoring = Memo::new(move |_| power.settings(|s| s.doing == Some(Deed::Restore)));
    move || {
        let told = told.get()?;
        let main = told.changed.is_some() || !told.foreign.is_empty();
        let acts = client.operates();
        let main = main.then(|| changed_line(power, told.changed, told.experiment, told.foreign, restoring, acts));
        let rest = (!told.left.is_empty() || !told.notes.is_empty())
            .then(|| leftover_lines(power, told.left, told.notes, restoring));
        let error = told.error.map(|error| {
            let close = move |_| power.change(|s| s.error = None);
            view! {
                <div class="told">
                    <Notice error/>
                    <button type="button" class="quiet" on:click=close>"Close"</button>
                </div>
            }
        });
        Some(
            view! { <section class="banner" aria-label="Changed settings" data-testid="banner">{main} {rest} {error}</section> },
        )
    }
}

fn changed_line(
    power: Power,
    changed: Option<String>,
    experiment: Option<String>,
    foreign: Vec<String>,
    restoring: Memo<bool>,
    acts: bool,
) -> AnyView {
    let belong = experiment.as_ref().map(|_| " for the experiment that is on, which puts them back");
    // To restore them would only spoil a trial.
    let way_back = match experiment {
        Some(id) => {
            let stop = move |_| {
                let id = id.clone();
                spawn_local(async move {
                    if let Err(e) = api::steer(&id, "stop").await {
                        power.change(|s| s.error = Some(e));
                    }
                });
            };
            view! { <button type="button" data-testid="stop-experiment" on:click=stop>"Stop it"</button> }.into_any()
        }
        None => view! {
            <Trial/>
            <button
                type="button"
                data-testid="restore"
                aria-disabled=move || restoring.get().then_some("true")
                on:click=move |_| restore(power, restoring, false)
            >
                {move || if restoring.get() { "Restoring" } else { "Restore now" }}
            </button>
        }
        .into_any(),
    };
    view! {
        <div class="told">
            <div role="status">
                {changed.map(|words| view! { <p class="count" data-testid="changed">{words} {belong}</p> })}
                {foreign.into_iter().map(|words| view! { <p class="warning" data-testid="drift">{words}</p> }).collect_view()}
            </div>
            {acts.then_some(way_back)}
        </div>
    }
    .into_any()
}

fn leftover_lines(power: Power, left: Vec<Leftover>, notes: Vec<String>, restoring: Memo<bool>) -> AnyView {
    let failed = left.iter().any(|l| !l.foreign);
    let taken = left.iter().any(|l| l.foreign);
    let title = match (failed, taken) {
        (true, _) => "Not everything could be put back",
        (false, true) => "Left alone, because somebody else changed it meanwhile",
        (false, false) => "Put back",
    };
    let button = |words: &'static str, force: bool| {
        view! {
            <button type="button" class="quiet" data-force=force.to_string() on:click=move |_| restore(power, restoring, force)>
                {words}
            </button>
        }
    };
    let line = |l: Leftover| view! { <li><strong>{l.title}</strong> ": " {l.words}</li> };
    view! {
        <div class="told" data-testid="leftovers">
            <div role="alert">
                <p>{title}</p>
                <ul>
                    {left.into_iter().map(line).collect_view()}
                    {notes.into_iter().map(|note| view! { <li>{note}</li> }).collect_view()}
                </ul>
            </div>
            {failed.then(|| button("Try again", false))}
            {taken.then(|| button("Put it back all the same", true))}
            <button type="button" class="quiet" on:click=move |_| power.change(|s| s.report = None)>"Close"</button>
        </div>
    }
    .into_any()
}

fn restore(power: Power, restoring: Memo<bool>, force: bool) {
    if !restoring.get_untracked() {
        power.restore(force);
    }
}
