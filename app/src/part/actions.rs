//! Deleting a result: asks first, in place.

use crate::api;
use crate::live::Client;
use leptos::prelude::*;
use protocol::error::ErrorBody;
use wasm_bindgen_futures::spawn_local;

/// A button that asks before it deletes.
#[component]
pub(crate) fn Delete(
    /// Which.
    id: String,
    /// `runs` or `experiments`.
    #[prop(default = "runs")]
    kind: &'static str,
    /// Called after it is gone.
    #[prop(into)]
    gone: Callback<()>,
    /// Shows what went wrong.
    error: RwSignal<Option<ErrorBody>>,
) -> impl IntoView {
    let client = expect_context::<Client>();
    let asking = RwSignal::new(false);
    let id = StoredValue::new(id);
    let delete = move |_| {
        spawn_local(async move {
            let Some(id) = id.try_get_value() else { return };
            let result = api::delete(kind, &id).await;
            let _ = asking.try_set(false);
            match result {
                Ok(()) => {
                    gone.try_run(());
                }
                Err(e) => {
                    let _ = error.try_set(Some(e));
                }
            }
        });
    };
    view! {
        <Show when=move || client.operates()>
        <span class="ask">
            <Show
                when=move || asking.get()
                fallback=move || {
                    view! {
                        <button type="button" class="quiet" data-testid="delete" on:click=move |_| asking.set(true)>
                            "Delete"
                        </button>
                    }
                }
            >
                <span>"Delete this result?"</span>
                <button type="button" class="danger" data-testid="delete-yes" on:click=delete>"Delete"</button>
                <button type="button" class="quiet" on:click=move |_| asking.set(false)>"Keep"</button>
            </Show>
        </span>
        </Show>
    }
}
