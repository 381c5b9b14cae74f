//! What is done at this moment: configuration, workload, settings in force, and the curve of the trial.

use crate::chart::Chart;
use crate::html::Html;
use crate::live::{Client, Power};
use crate::model::{Held, Metric, held};
use crate::part::MetricSwitch;
use leptos::prelude::*;

/// The trial that is on.
#[component]
pub(crate) fn Now() -> impl IntoView {
    let client = expect_context::<Client>();
    let power = expect_context::<Power>();
    let metric = RwSignal::new(Metric::Iops);
    let names = Memo::new(move |_| {
        client.handle.experiment(|e| {
            let trial = e.live.trial.as_ref()?;
            let configuration = e.live.head.configurations.get(trial.configuration as usize)?;
            Some((configuration.name.clone(), trial.workload.clone()))
        })
    });
    let names = move || names.get().flatten();
    let settings =
        Memo::new(move |_| power.settings(|s| client.handle.experiment(|e| settings(&held(&e.live, &s.host.knobs)))));
    view! {
        <section class="now" aria-label="In force now">
            <div>
                <h2>"In force now"</h2>
                <p class="name" data-testid="in-force">{move || names().map_or_else(|| "between two trials".into(), |n| n.0)}</p>
                <p class="fine">{move || names().map(|n| n.1)}</p>
                <dl class="facts" inner_html=move || settings.get()></dl>
            </div>
            <div class="curve">
                <MetricSwitch metric/>
                <Chart handle=client.handle.trial() metric=metric.into() group=Signal::stored(0)/>
            </div>
        </section>
    }
}

/// Names and values; of those that are not as they were found, what they were.
fn settings(all: &[Held]) -> String {
    let mut h = Html::default();
    for held in all {
        h.tag("<div><dt>").text(&held.title).tag("</dt><dd>");
        if let Some(found) = &held.found {
            h.tag("<b>").text(&held.value).tag("</b> <span class=\"fine\">found as ").text(found).tag("</span>");
        } else {
            h.text(&held.value);
        }
        h.tag("</dd></div>");
    }
    h.done()
}
