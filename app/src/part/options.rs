//! Options of a preset, and those that apply to everything.

use super::field::Field;
use crate::model::{Kind, Problem, Setup};
use crate::part::Term;
use leptos::prelude::*;
use protocol::preset::Column;
use protocol::workload::Wait;

/// Size, time and columns of a preset.
#[component]
pub(crate) fn PresetOptions(setup: RwSignal<Setup>, problem: Signal<Option<Problem>>) -> impl IntoView {
    let default = move |field: &'static str| Signal::derive(move || setup.with(|s| s.preset_default(field)));
    let column = move |(index, column): (usize, Column)| {
        let toggle = move |ev| {
            let on = event_target_checked(&ev);
            setup.update(|s| s.columns.iter_mut().skip(index).take(1).for_each(|c| *c = on));
        };
        view! {
            <label class="tick">
                <input
                    type="checkbox"
                    data-column=column.name()
                    prop:checked=move || setup.with(|s| s.columns.get(index).copied())
                    on:change=toggle
                />
                <span>{column.name()}</span>
            </label>
        }
    };
    view! {
        <div class="ticks" role="group" aria-label="Columns">
            {Column::ALL.into_iter().enumerate().map(column).collect_view()}
        </div>
        <div class="fields">
            <Field setup problem name="size" placeholder=default("size") text=|s| &mut s.size/>
            <Field setup problem name="runtime" placeholder=default("runtime") text=|s| &mut s.runtime/>
        </div>
    }
}

/// Repetitions, wait mode, page cache, what happens to the file.
#[component]
pub(crate) fn CommonOptions(setup: RwSignal<Setup>, problem: Signal<Option<Problem>>) -> impl IntoView {
    let repetitions = Signal::derive(move || setup.with(|s| s.preset_default("repetitions")));
    let wait = Memo::new(move |_| setup.with(|s| s.wait));
    let choose = move |ev| {
        if let Ok(wait) = event_target_value(&ev).parse() {
            setup.update(|s| s.wait = wait);
        }
    };
    let custom = Memo::new(move |_| setup.with(|s| s.kind == Kind::Custom));
    view! {
        <div class="fields">
            <Field
                setup
                problem
                name="repetitions"
                label="Repetitions"
                placeholder=repetitions
                text=|s| &mut s.repetitions
            />
            <div class="field">
                <span class="label">
                    <label for="field-wait" class="visually-hidden">"Wait mode"</label>
                    <Term name="Wait mode"/>
                </span>
                <select id="field-wait" prop:value=move || wait.get().name() on:change=choose>
                    {Wait::ALL.map(|w| view! { <option value=w.name()>{w.name()}</option> }).collect_view()}
                </select>
            </div>
        </div>
        <div class="ticks column">
            <label class="tick">
                <input
                    type="checkbox"
                    id="buffered"
                    prop:checked=move || setup.with(|s| s.buffered)
                    on:change=move |ev| setup.update(|s| s.buffered = event_target_checked(&ev))
                />
                <span>"Through the page cache" <span class="fine">" (not comparable)"</span></span>
            </label>
            <label class="tick">
                <input
                    type="checkbox"
                    id="keep-file"
                    prop:checked=move || setup.with(|s| s.keep_file)
                    on:change=move |ev| setup.update(|s| s.keep_file = event_target_checked(&ev))
                />
                <span>
                    {move || if custom.get() { "Keep the file for the next run" } else { "Keep the file afterwards" }}
                </span>
            </label>
        </div>
    }
}
