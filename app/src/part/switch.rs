//! The switch between throughput, IOPS and latency.

use crate::model::Metric;
use leptos::prelude::*;

/// Three radio buttons in one frame.
#[component]
pub(crate) fn MetricSwitch(metric: RwSignal<Metric>) -> impl IntoView {
    view! {
        <fieldset class="switch">
            <legend class="visually-hidden">"What is shown"</legend>
            {Metric::ALL
                .map(|m| {
                    view! {
                        <label>
                            <input
                                type="radio"
                                name="metric"
                                prop:checked=move || metric.get() == m
                                on:change=move |_| metric.set(m)
                            />
                            <span>{m.name()}</span>
                        </label>
                    }
                })
                .collect_view()}
        </fieldset>
    }
}
