//! Power: every setting of the host on the path to the drive, and what the host does meanwhile.

use crate::live::{Client, Connection, Power};
use crate::part::{Groups, HostLoad, Profiles};
use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn PowerPage() -> impl IntoView {
    let client = expect_context::<Client>();
    let power = expect_context::<Power>();
    let known = Memo::new(move |_| power.settings(|s| s.known));
    let outdated = move || power.connection.get() == Connection::Lost;
    view! {
        <Show when=move || known.get() fallback=|| view! { <p class="fine waiting">"Reading the settings"</p> }>
            <div class="power" class:stale=outdated>
                <header class="head">
                    <h1>"Power settings"</h1>
                    <Standing/>
                    <Show when=move || client.operates()>
                        <Profiles/>
                    </Show>
                </header>
                <aside aria-label="This host now">
                    <HostLoad/>
                </aside>
                <Groups/>
            </div>
        </Show>
    }
}

/// What holds for all settings: who may change them, and who else does.
#[component]
fn Standing() -> impl IntoView {
    let power = expect_context::<Power>();
    let read_only = Memo::new(move |_| power.settings(|s| s.host.read_only.clone()));
    let daemons = Memo::new(move |_| power.settings(|s| s.host.daemons.clone()));
    move || {
        let daemons = daemons.get();
        let daemons = (!daemons.is_empty()).then(|| {
            let line = |d: String| view! { <li>{d}</li> };
            view! {
                <div class="warning" data-testid="daemons">
                    <p>"Also changes settings on this host:"</p>
                    <ul>{daemons.into_iter().map(line).collect_view()}</ul>
                </div>
            }
        });
        let reason = read_only
            .get()
            .map(|reason| view! { <p class="warning" data-testid="read-only"><strong>"Read only"</strong> " \u{b7} " {reason}</p> });
        view! { {reason} {daemons} }
    }
}
