//! A labelled text field with its explanation and its problem.

use crate::model::{Problem, Setup};
use crate::part::Term;
use leptos::prelude::*;

/// One field of the set-up.
#[component]
pub(crate) fn Field(
    setup: RwSignal<Setup>,
    /// What is wrong with the set-up now.
    problem: Signal<Option<Problem>>,
    /// Name, as fio writes it.
    name: &'static str,
    /// What is shown as label, if not the name.
    #[prop(optional)]
    label: &'static str,
    /// Shown while empty: the default.
    #[prop(optional, into)]
    placeholder: Signal<String>,
    /// Where the text is kept.
    text: fn(&mut Setup) -> &mut String,
) -> impl IntoView {
    let wrong = Memo::new(move |_| problem.get().filter(|p| p.field == name).map(|p| p.message));
    let id = format!("field-{name}");
    let problem_id = format!("{id}-problem");
    let shown = if label.is_empty() { name } else { label };
    let value = move || text(&mut setup.get()).clone();
    view! {
        <div class="field">
            <span class="label">
                <label for=id.clone() class="visually-hidden">{shown}</label>
                <Term name=if label.is_empty() { name } else { label }/>
            </span>
            <input
                id=id
                type="text"
                autocomplete="off"
                spellcheck="false"
                prop:value=value
                placeholder=move || placeholder.get()
                aria-invalid=move || wrong.get().is_some().then_some("true")
                aria-describedby=problem_id.clone()
                on:input=move |ev| setup.update(|s| *text(s) = event_target_value(&ev))
            />
            <p class="problem" id=problem_id>{move || wrong.get()}</p>
        </div>
    }
}
