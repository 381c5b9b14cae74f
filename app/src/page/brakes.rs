//! Find the brakes: the question, its plan, and the start of an experiment.

use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn BrakesPage() -> impl IntoView {
    view! {
        <div class="page">
            <header class="head">
                <h1>"Find the brakes"</h1>
            </header>
        </div>
    }
}
