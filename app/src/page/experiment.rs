//! One experiment: live while it is on, afterwards as it is stored.

use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn ExperimentPage(id: String) -> impl IntoView {
    let file = format!("/api/v1/experiments/{id}");
    view! {
        <section class="message">
            <h1>"Experiment " {id}</h1>
            <p><a href=file>"Its data"</a></p>
        </section>
    }
}
