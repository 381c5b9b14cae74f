//! The one big number.

use crate::live::Handle;
use crate::model::{Metric, shown};
use crate::part::Term;
use leptos::prelude::*;

/// Label, number, statistic, and the other metrics beside it.
#[component]
pub(crate) fn Reading(handle: Handle, metric: Signal<Metric>, group: Signal<usize>) -> impl IntoView {
    let shown = Memo::new(move |_| handle.numbers(|m| shown(m, group.get(), metric.get())));
    let get = move |f: fn(&crate::model::Shown) -> String| move || shown.with(|s| s.as_ref().map(f));
    let others = move || {
        let others = shown.with(|s| s.as_ref().map(|s| s.others.clone())).unwrap_or_default();
        let one = |(name, q): (&'static str, crate::format::Quantity)| {
            view! {
                <div>
                    <dt>
                        <Term name/>
                    </dt>
                    <dd>{q.value} <span class="unit">" " {q.unit}</span></dd>
                </div>
            }
        };
        others.into_iter().map(one).collect_view()
    };
    view! {
        <div class="reading" class:live=move || shown.with(|s| s.as_ref().is_some_and(|s| s.live))
            class:unknown=move || shown.with(|s| s.as_ref().is_none_or(|s| s.raw.is_none()))
        >
            <h2 class="what">{get(|s| s.label.clone())}</h2>
            <p
                class="number"
                data-testid="reading"
                data-value=move || shown.with(|s| s.as_ref().and_then(|s| s.raw).map(|v| v.to_string()))
            >
                <span class="digits">{get(|s| s.main.value.clone())}</span>
                <span class="unit">" " {get(|s| s.main.unit.to_owned())}</span>
            </p>
            <p class="note">{get(|s| s.note.clone())}</p>
            <dl class="others">{others}</dl>
        </div>
    }
}
