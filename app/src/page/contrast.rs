//! Experiments side by side, as the server compares them.

use crate::api;
use crate::part::Notice;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

/// The page.
#[component]
pub(crate) fn ContrastPage(
    /// Ids, separated by commas.
    ids: String,
) -> impl IntoView {
    let loaded = RwSignal::new(None);
    spawn_local(async move {
        let answer = api::contrast(&ids).await;
        let _ = loaded.try_set(Some(answer));
    });
    move || match loaded.get() {
        None => view! { <p class="fine waiting">"Loading"</p> }.into_any(),
        Some(Err(error)) => view! {
            <section class="message">
                <h1>"These experiments cannot be compared"</h1>
                <Notice error/>
                <p><a href="/results">"All results"</a></p>
            </section>
        }
        .into_any(),
        // The server escapes every text in it.
        Some(Ok(fragment)) => view! {
            <div class="page">
                <header class="head">
                    <h1>"Compare"</h1>
                </header>
                <div class="experiment-report" data-testid="contrast" inner_html=fragment></div>
            </div>
        }
        .into_any(),
    }
}
