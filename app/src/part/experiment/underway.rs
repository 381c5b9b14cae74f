//! Under the bar on top, on every page but its own: that an experiment is on, and the way to it.

use crate::live::Client;
use crate::route::{Route, Router};
use leptos::prelude::*;

/// The line.
#[component]
pub(crate) fn Underway() -> impl IntoView {
    let client = expect_context::<Client>();
    let router = expect_context::<Router>();
    let told = Memo::new(move |_| {
        let told = client.handle.experiment(|e| {
            let live = &e.live;
            let state = if live.paused { "pauses" } else { "is on" };
            e.on().then(|| (live.head.id.clone(), format!("An experiment {state}: {}", live.head.title)))
        });
        told.flatten().filter(|(id, _)| router.route() != Route::Experiment(id.clone()))
    });
    move || {
        let (id, words) = told.get()?;
        Some(view! {
            <p class="underway" data-testid="underway">
                <span>{words}</span>
                <a href=format!("/experiments/{id}")>"Watch it"</a>
            </p>
        })
    }
}
