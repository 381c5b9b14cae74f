//! The pages, and the frame around them.

mod brakes;
mod compare;
mod contrast;
mod experiment;
mod frame;
mod gate;
mod kiosk;
mod measure;
mod power;
mod results;
mod run;

use crate::live::{Client, Power};
use crate::part::{Banner, Underway};
use crate::route::{Route, Router};
use crate::session::{self, Access};
use crate::theme::Theme;
use brakes::BrakesPage;
use compare::ComparePage;
use contrast::ContrastPage;
use experiment::ExperimentPage;
use frame::Bar;
use gate::Gate;
use kiosk::KioskPage;
use leptos::prelude::*;
use measure::MeasurePage;
use power::PowerPage;
use results::ResultsPage;
use run::RunPage;

/// Everything.
#[component]
pub(crate) fn Page() -> impl IntoView {
    provide_context(Theme::start());
    let router = Router::start();
    provide_context(router);
    let kiosk = router.route() == Route::Kiosk;
    let client = Client::new(kiosk);
    provide_context(client);
    let power = Power::new(kiosk);
    provide_context(power);
    session::reload_on_token();
    wasm_bindgen_futures::spawn_local(session::begin(client, power));
    if kiosk {
        return view! { <KioskPage/> }.into_any();
    }
    // Each page says what it needs, so that nothing is measured for a page that does not show it.
    Effect::new(move || power.watch(router.route() == Route::Power));
    let gate = Memo::new(move |_| client.session.get());
    view! {
        <a class="skip" href="#main">"Skip to the content"</a>
        <Bar/>
        <Underway/>
        <Banner/>
        <main id="main" tabindex="-1">
            {move || match gate.get() {
                None => view! { <p class="fine waiting">"Connecting to the server"</p> }.into_any(),
                Some(access @ (Access::Stranger | Access::Locked)) => view! { <Gate access/> }.into_any(),
                Some(Access::Viewer | Access::Operator) => {
                    match router.route() {
                        Route::Measure => view! { <MeasurePage/> }.into_any(),
                        Route::Run(id) => view! { <RunPage id/> }.into_any(),
                        Route::Brakes => view! { <BrakesPage/> }.into_any(),
                        Route::Experiment(id) => view! { <ExperimentPage id/> }.into_any(),
                        Route::Power => view! { <PowerPage/> }.into_any(),
                        Route::Results => view! { <ResultsPage/> }.into_any(),
                        Route::Compare(a, b) => view! { <ComparePage a b/> }.into_any(),
                        Route::Contrast(ids) => view! { <ContrastPage ids/> }.into_any(),
                        Route::Kiosk => view! { <KioskPage/> }.into_any(),
                        Route::Unknown(path) => {
                            view! {
                                <section class="message">
                                    <h1>"There is no page at this address"</h1>
                                    <p><code>{path}</code></p>
                                    <p><a href="/">"Measure"</a> " or look at the " <a href="/results">"results"</a> "."</p>
                                </section>
                            }
                                .into_any()
                        }
                    }
                }
            }}
        </main>
    }
    .into_any()
}
