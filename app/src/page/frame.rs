//! The bar on top: where one is, what is under test, how the connection stands.

use crate::api;
use crate::live::{Client, Connection};
use crate::part::Viewers;
use crate::route::{Route, Router};
use crate::session::Access;
use crate::theme::ThemeButton;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

/// The bar.
#[component]
pub(crate) fn Bar() -> impl IntoView {
    let client = expect_context::<Client>();
    let router = expect_context::<Router>();
    let here = move |href: &'static str| {
        move || {
            let at = match router.route() {
                Route::Measure => "/",
                Route::Brakes => "/brakes",
                Route::Power => "/power",
                Route::Run(_) | Route::Experiment(_) | Route::Results | Route::Compare(..) | Route::Contrast(_) => {
                    "/results"
                }
                Route::Kiosk | Route::Unknown(_) => "",
            };
            (at == href).then_some("page")
        }
    };
    let under_test = Memo::new(move |_| {
        let run = client.handle.run(|m| {
            let drive = m.record.drive.as_ref();
            let model = drive.map(|d| d.model.clone().unwrap_or_else(|| d.name.clone()));
            let link = drive.and_then(|d| d.link.as_ref()).map(|l| l.current.clone());
            [m.record.host.hostname.clone(), model, link].into_iter().flatten().collect::<Vec<_>>().join(" \u{b7} ")
        });
        run.unwrap_or_default()
    });
    let connection = move || match client.connection.get() {
        Connection::Connecting => ("connecting", "connecting"),
        Connection::Live => ("live", "live"),
        Connection::Lost if client.switched_off.get() => ("lost", "viewers are switched off, waiting"),
        Connection::Lost => ("lost", "connection lost, retrying"),
    };
    let host = RwSignal::new(None::<String>);
    Effect::new(move || {
        if client.session.get() == Some(Access::Viewer) {
            spawn_local(async move {
                let known = api::system().await.ok().and_then(|system| system.host.hostname);
                let _ = host.try_set(known.or_else(|| window().location().hostname().ok()));
            });
        }
    });
    view! {
        <header class="bar">
            <a href="/" class="brand">
                <svg viewBox="0 0 32 32" aria-hidden="true">
                    <circle cx="16" cy="16" r="11" class="disc"/>
                    <circle cx="16" cy="16" r="3" class="hub"/>
                    <path d="M20.6 3.4 A13.4 13.4 0 0 1 29.2 18.4" class="caliper"/>
                </svg>
                "Brakecheck"
            </a>
            <nav aria-label="Pages">
                <a href="/" aria-current=here("/")>"Measure"</a>
                <a href="/brakes" aria-current=here("/brakes")>"Find the brakes"</a>
                <a href="/power" aria-current=here("/power")>"Power"</a>
                <a href="/results" aria-current=here("/results")>"Results"</a>
            </nav>
            {move || host.get().map(|host| view! { <p class="looking" data-testid="looking">"You are watching " {host}</p> })}
            <p class="under-test" title=move || under_test.get()>{move || under_test.get()}</p>
            <Show when=move || client.operates()>
                <Viewers/>
            </Show>
            <Show when=move || client.session.get().is_some_and(Access::sees)>
                <p class=move || format!("connection {}", connection().0) role="status" data-testid="connection">
                    {move || connection().1}
                </p>
            </Show>
            <ThemeButton/>
        </header>
    }
}
