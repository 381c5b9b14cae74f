//! The countdown of a risky setting, and the button that keeps it.

use crate::live::{Client, Power};
use crate::model::Deed;
use leptos::prelude::*;

/// Nothing while nothing is on trial.
#[component]
pub(crate) fn Trial() -> impl IntoView {
    let client = expect_context::<Client>();
    let power = expect_context::<Power>();
    let on = Memo::new(move |_| power.seconds_left.get().is_some());
    let words = move || match power.seconds_left.get() {
        None | Some(0) => "Going back".to_owned(),
        Some(s) => format!("Goes back in {s}\u{a0}s"),
    };
    let keep = move |_| {
        if power.settings(|s| s.doing != Some(Deed::Confirm)) {
            power.confirm();
        }
    };
    view! {
        <Show when=move || on.get()>
            <div class="trial" data-testid="trial">
                <span role="timer">{words}</span>
                <Show when=move || client.operates()>
                    <button type="button" class="strong" data-testid="keep" on:click=keep>"Keep it"</button>
                </Show>
            </div>
        </Show>
    }
}
