//! An error in words: what happened, why, what to do.

use leptos::prelude::*;
use protocol::error::ErrorBody;

/// Shows an error where it matters.
#[component]
pub(crate) fn Notice(error: ErrorBody) -> impl IntoView {
    view! {
        <div class="notice" role="alert" data-testid="error">
            <p>{error.message}</p>
            {error.hint.map(|hint| view! { <p class="hint">{hint}</p> })}
        </div>
    }
}
