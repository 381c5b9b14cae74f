//! The one big number.

use crate::live::Handle;
use crate::model::{Metric, Shown, shown};
use crate::part::Term;
use leptos::prelude::*;

/// Label, number, statistic, and the other metrics beside it.
#[component]
pub(crate) fn Reading(handle: Handle, metric: Signal<Metric>, group: Signal<usize>) -> impl IntoView {
    let shown = Memo::new(move |_| handle.numbers(|m| shown(m, group.get(), metric.get())));
    let get = move |f: fn(&Shown) -> String| move || shown.with(|s| s.as_ref().map(f));
    // The elements stay as long as their names do; only the numbers move.
    let names = Memo::new(move |_| {
        let names = |s: &Shown| s.others.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        shown.with(|s| s.as_ref().map(names)).unwrap_or_default()
    });
    let other = move |name: &'static str| {
        let find = move |s: &Shown| s.others.iter().find(|(n, _)| *n == name).map(|(_, q)| q.clone());
        let quantity = Memo::new(move |_| shown.with(|s| s.as_ref().and_then(find)).unwrap_or_default());
        view! {
            <div>
                <dt>
                    <Term name/>
                </dt>
                <dd>
                    {move || quantity.get().value} <span class="unit">" " {move || quantity.get().unit}</span>
                </dd>
            </div>
        }
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
            <dl class="others">
                {move || names.get().into_iter().map(other).collect_view()}
            </dl>
        </div>
    }
}
