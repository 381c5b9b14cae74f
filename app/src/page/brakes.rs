//! Find the brakes: the question, its plan, and the start of an experiment.

use super::results::ResultsPage;
use crate::live::{Client, Power};
use crate::part::{Inquiry, Notice, TargetPicker, form, questions};
use crate::route::Router;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

/// The page: the question for whoever may ask it, and what was found for whoever looks on.
#[component]
pub(crate) fn BrakesPage() -> impl IntoView {
    if expect_context::<Client>().operates() {
        view! { <Asking/> }.into_any()
    } else {
        view! { <ResultsPage experiments=true/> }.into_any()
    }
}

#[component]
fn Asking() -> impl IntoView {
    let router = expect_context::<Router>();
    let power = expect_context::<Power>();
    let inquiry = Inquiry::new();
    let setup = inquiry.setup;
    let knobs = move || power.settings(|s| inquiry.knobs(&s.host.knobs));
    Effect::new(knobs);
    let (cards, own) = setup.with_untracked(|s| (questions(&s.brakes), form(&s.brakes)));
    let submit = move |ev: web_sys::SubmitEvent| {
        ev.prevent_default();
        if untrack(move || inquiry.ready() && !inquiry.starting.get()) {
            inquiry.start(router);
        }
    };
    // The fields say who they are. A list may only say that it has changed.
    let edited = move |ev: web_sys::Event| {
        let Some(element) = ev.target().map(JsCast::unchecked_into::<web_sys::Element>) else { return };
        if let Some(name) = element.get_attribute("name").filter(|name| name != "place") {
            // A text area and a list have a value as well, and are never ticked.
            let field: HtmlInputElement = element.unchecked_into();
            let file = if name == "file" { field.files().and_then(|all| all.get(0)) } else { None };
            match file {
                Some(file) => {
                    // The same file can be opened again, once it is mended.
                    field.set_value("");
                    inquiry.open(file, move || untrack(knobs));
                }
                None => inquiry.put(&name, field.value(), field.checked()),
            }
        }
    };
    view! {
        <h1 class="visually-hidden">"Find the brakes"</h1>
        <div class="bench asking">
            <form
                class="setup"
                data-form=move || setup.with(|s| s.brakes.form())
                on:submit=submit
                on:input=edited
                on:change=edited
                aria-label="Question"
            >
                <div class="go">
                    <button
                        type="submit"
                        id="begin"
                        class="primary"
                        disabled=move || !inquiry.ready() || inquiry.starting.get()
                    >
                        "Start"
                    </button>
                    <p class="problem" role="status">{move || inquiry.complaint()}</p>
                    {move || inquiry.error.get().map(|error| view! { <Notice error/> })}
                </div>
                {move || inquiry.risk().map(|(risk, taken)| view! {
                    <label class="tick risk">
                        <input type="checkbox" name="risk" prop:checked=taken/>
                        <span>"Take the risk: " {risk}</span>
                    </label>
                })}
                <fieldset class="cards" id="questions" inner_html=cards></fieldset>
                <TargetPicker setup choice=RwSignal::new(None)/>
                <div class="own" id="own" inner_html=own></div>
            </form>
            <div class="instrument">
                {move || inquiry.obstacle().map(|error| view! { <Notice error/> })}
                <section
                    class="plan"
                    class:stale=move || inquiry.outdated()
                    data-testid="plan"
                    aria-label="Plan"
                    inner_html=move || inquiry.plan()
                ></section>
            </div>
        </div>
    }
}
