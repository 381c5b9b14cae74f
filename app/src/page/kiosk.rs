//! The kiosk: a screen on a wall. Nothing to press; one thing at a time.

use super::gate::Gate;
use crate::live::{Client, Power};
use crate::part::{Measured, Screen, experiment_panel, keep_awake};
use crate::session::Access;
use leptos::prelude::*;

/// The page.
#[component]
pub(crate) fn KioskPage() -> impl IntoView {
    let client = expect_context::<Client>();
    let screen = Screen::start(client, expect_context::<Power>());
    keep_awake();
    let is_on = Memo::new(move |_| screen.on.get().0);
    let is = move |name: &'static str| move || screen.shown.with(|shown| shown == name);
    let on_run = is("run");
    let drawn = Memo::new(move |_| screen.shown.with(|shown| !shown.is_empty() && shown != "run"));
    let told = Memo::new(move |_| if is_on.get() { client.handle.experiment(experiment_panel) } else { None });
    view! {
        <div
            class="kiosk"
            data-panel=move || screen.shown.get()
            class:stale=move || screen.stale.get()
            class:dim=move || screen.dim.get()
            style:transform=move || screen.place.get()
        >
            <main>
                <section class="measured" hidden=move || !on_run() || is_on.get()>
                    <Measured/>
                </section>
                <section class="kiosk-told" hidden=move || !on_run() || !is_on.get() inner_html=move || told.get()></section>
                <section hidden=move || !drawn.get() inner_html=move || screen.html.get()></section>
                <section class="calm" hidden=move || !is("")()>
                    {move || match client.session.get() {
                        Some(access @ (Access::Stranger | Access::Locked)) => view! { <Gate access/> }.into_any(),
                        None => view! { <p class="about">"Connecting to the server"</p> }.into_any(),
                        Some(Access::Viewer | Access::Operator) => view! {
                            <p class="headline">"Nothing has been measured yet"</p>
                            <p class="about">
                                "This screen shows what Brakecheck measures on its host, while it does, and what it found. \
                                 Start something on the operator\u{2019}s page; it appears here by itself."
                            </p>
                        }.into_any(),
                    }}
                </section>
            </main>
            <footer>
                <span>"Brakecheck"</span>
                <span role="status">{move || screen.notes.get()}</span>
                <span data-testid="since">{move || screen.clock.get()}</span>
            </footer>
        </div>
    }
}
