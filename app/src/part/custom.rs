//! The form of a custom workload, with fio's names.

use super::field::Field;
use crate::model::{Problem, Setup};
use crate::part::Term;
use leptos::prelude::*;
use protocol::workload::Rw;

/// The form.
#[component]
pub(crate) fn CustomForm(setup: RwSignal<Setup>, problem: Signal<Option<Problem>>) -> impl IntoView {
    let rw = Memo::new(move |_| setup.with(|s| s.custom.rw));
    let choose = move |ev| {
        if let Ok(rw) = event_target_value(&ev).parse() {
            setup.update(|s| s.custom.rw = rw);
        }
    };
    let option = |r: Rw| view! { <option value=r.name()>{r.name()}</option> };
    view! {
        <div class="fields" id="custom-form">
            <div class="field">
                <span class="label">
                    <label for="field-rw" class="visually-hidden">"rw"</label>
                    <Term name="rw"/>
                </span>
                <select id="field-rw" prop:value=move || rw.get().name() on:change=choose>
                    {Rw::ALL.map(option).collect_view()}
                </select>
            </div>
            <Show when=move || rw.get().reads() && rw.get().writes()>
                <Field setup problem name="rwmixread" text=|s| &mut s.custom.rwmixread/>
            </Show>
            <Field setup problem name="bs" text=|s| &mut s.custom.bs/>
            <Field setup problem name="iodepth" text=|s| &mut s.custom.iodepth/>
            <Field setup problem name="numjobs" text=|s| &mut s.custom.numjobs/>
            <Field setup problem name="size" placeholder="1g".to_owned() text=|s| &mut s.custom.size/>
            <Field setup problem name="runtime" text=|s| &mut s.custom.runtime/>
        </div>
        <details class="more">
            <summary>"More of fio\u{2019}s options"</summary>
            <div class="fields">
                <Field setup problem name="offset" placeholder="0".to_owned() text=|s| &mut s.custom.offset/>
                <Field setup problem name="ramp_time" placeholder="0s".to_owned() text=|s| &mut s.custom.ramp_time/>
                <Field setup problem name="rate_iops" placeholder="none".to_owned() text=|s| &mut s.custom.rate_iops/>
                <Field setup problem name="thinktime" placeholder="0us".to_owned() text=|s| &mut s.custom.thinktime/>
                <Show when=move || rw.get().random()>
                    <Field
                        setup
                        problem
                        name="random_distribution"
                        label="distribution"
                        placeholder="random".to_owned()
                        text=|s| &mut s.custom.random_distribution
                    />
                </Show>
            </div>
        </details>
    }
}
