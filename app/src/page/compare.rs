//! Two runs side by side: what differs first, then the numbers.

use crate::api;
use crate::model::{Contrast, Metric, RunModel, contrasts, differences, in_words};
use crate::part::{MetricSwitch, Notice, when};
use leptos::prelude::*;
use protocol::error::ErrorBody;
use wasm_bindgen_futures::spawn_local;

async fn both(a: &str, b: &str) -> Result<(RunModel, RunModel), ErrorBody> {
    Ok((RunModel::new(api::run(a).await?), RunModel::new(api::run(b).await?)))
}

/// Why a run's numbers must not be compared, if so.
fn incomparable(model: &RunModel) -> Option<&'static str> {
    model.record.results.iter().find_map(protocol::result::StepResult::not_comparable)
}

/// The page.
#[component]
pub(crate) fn ComparePage(a: String, b: String) -> impl IntoView {
    let loaded = RwSignal::new(None::<Result<(RunModel, RunModel), ErrorBody>>);
    spawn_local(async move {
        let result = both(&a, &b).await;
        let _ = loaded.try_set(Some(result));
    });
    move || match loaded.get() {
        None => view! { <p class="fine waiting">"Loading"</p> }.into_any(),
        Some(Err(error)) => view! {
            <section class="message">
                <h1>"These runs cannot be compared"</h1>
                <Notice error/>
                <p><a href="/results">"All results"</a></p>
            </section>
        }
        .into_any(),
        Some(Ok((a, b))) => view! { <Comparison a b/> }.into_any(),
    }
}

#[component]
fn Comparison(a: RunModel, b: RunModel) -> impl IntoView {
    let metric = RwSignal::new(Metric::default());
    let warnings: Vec<String> = [("A", &a), ("B", &b)]
        .into_iter()
        .filter_map(|(name, m)| Some(format!("{name} is not comparable: {}.", incomparable(m)?)))
        .collect();
    let differing = differences(&a, &b);
    let head = |name: &'static str, m: &RunModel| {
        let r = &m.record;
        let drive = r.drive.as_ref().map(|d| d.model.clone().unwrap_or_else(|| d.name.clone())).unwrap_or_default();
        view! {
            <div class="side">
                <h2>{name} ": " <a href=format!("/runs/{}", r.id)>{r.spec.title()}</a></h2>
                <p class="fine">{format!("{} \u{b7} {drive} \u{b7} {}", when(&r.started_at), r.spec.target)}</p>
            </div>
        }
    };
    let sides = (head("A", &a), head("B", &b));
    let conditions = if differing.is_empty() {
        view! { <p>"No known condition differs."</p> }.into_any()
    } else {
        let row = |(name, left, right): (&'static str, String, String)| {
            view! {
                <tr>
                    <th scope="row">{name}</th>
                    <td class="text">{left}</td>
                    <td class="text">{right}</td>
                </tr>
            }
        };
        view! {
            <table class="data" data-testid="differences">
                <thead>
                    <tr>
                        <th scope="col">"Differs"</th>
                        <th scope="col" class="text">"A"</th>
                        <th scope="col" class="text">"B"</th>
                    </tr>
                </thead>
                <tbody>{differing.into_iter().map(row).collect_view()}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        <div class="page">
            <header class="head">
                <h1>"Compare"</h1>
            </header>
            <div class="sides">{sides.0} {sides.1}</div>
            {warnings.into_iter().map(|w| view! { <p class="warning">{w}</p> }).collect_view()}
            {conditions}
            <MetricSwitch metric/>
            <Numbers a b metric=metric.into()/>
        </div>
    }
}

/// Same rows side by side.
#[component]
fn Numbers(a: RunModel, b: RunModel, metric: Signal<Metric>) -> impl IntoView {
    let runs = StoredValue::new((a, b));
    let figure = |v: Option<(f64, String)>, metric: Metric| match v {
        None => view! { <span class="fine">"not measured"</span> }.into_any(),
        Some((v, statistic)) => {
            let q = metric.format(v);
            view! {
                <span class="value">{q.value}</span>
                <span class="unit">" " {q.unit}</span>
                <span class="fine">{statistic}</span>
            }
            .into_any()
        }
    };
    let rows = move || {
        let metric = metric.get();
        let row = |c: Contrast| {
            // A difference whose interval holds "none" is shown, but quietly.
            let sure = c.difference.as_ref().is_some_and(lab::Comparison::differs);
            let (change, detail) = c.difference.as_ref().map_or_else(|| ("\u{2014}".into(), String::new()), in_words);
            view! {
                <tr>
                    <th scope="row">{c.label}</th>
                    <td class="figure">{figure(c.a, metric)}</td>
                    <td class="figure">{figure(c.b, metric)}</td>
                    <td class="figure" class:unsure=!sure data-testid="difference">
                        <span class="value">{change}</span>
                        <span class="fine">{detail}</span>
                    </td>
                </tr>
            }
        };
        runs.with_value(|(a, b)| contrasts(a, b, metric)).into_iter().map(row).collect_view()
    };
    view! {
        <table class="list versus">
            <thead>
                <tr>
                    <th scope="col">"Test"</th>
                    <th scope="col" class="figure">"A"</th>
                    <th scope="col" class="figure">"B"</th>
                    <th scope="col" class="figure">"B against A"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        <p class="fine">
            "Difference of the geometric means of all scored passes, with its 95 % interval. "
            "Grey where the interval holds zero or cannot be told."
        </p>
    }
}
