//! A run to be read from three metres: one number, its curve, and how far it is.

use crate::chart::Chart;
use crate::live::Client;
use crate::model::{Metric, RunModel, Shown, shown};
use crate::part::progress::Progress;
use leptos::prelude::*;

/// The panel.
#[component]
pub(crate) fn Measured() -> impl IntoView {
    let handle = expect_context::<Client>().handle;
    let group = Memo::new(move |_| handle.run(RunModel::main_group).unwrap_or(0));
    let metric = Signal::stored(Metric::Throughput);
    let shown = Memo::new(move |_| handle.numbers(|m| shown(m, group.get(), Metric::Throughput)));
    let get = move |f: fn(&Shown) -> String| move || shown.with(|s| s.as_ref().map(f));
    let about = move || {
        handle.run(|m| {
            let (record, drive) = (&m.record, m.record.drive.as_ref());
            let model = drive.map(|d| d.model.clone().unwrap_or_else(|| d.name.clone()));
            let link = drive.and_then(|d| d.link.as_ref()).map(|l| l.current.clone());
            let parts = [record.host.hostname.clone(), model, link, Some(record.target.path.clone())];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" \u{b7} ")
        })
    };
    let others =
        |s: &Shown| s.others.iter().map(|(name, q)| format!("{name} {}", q.text())).collect::<Vec<_>>().join("   ");
    view! {
        <p class="about">{about}</p>
        <p class="what">{get(|s| s.label.clone())}</p>
        <p
            class="number"
            class:long=move || shown.with(|s| s.as_ref().is_some_and(|s| s.main.value.chars().count() > 6))
            data-testid="reading"
        >
            <span class="digits">{get(|s| s.main.value.clone())}</span>
            <span class="unit">" " {get(|s| s.main.unit.to_owned())}</span>
        </p>
        <p class="standing">{get(|s| s.note.clone())}</p>
        <p class="others">{get(others)}</p>
        <Progress handle/>
        <Chart handle metric group=group.into()/>
    }
}
