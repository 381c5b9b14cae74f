//! Two runs side by side: what differs first, then the numbers.

use crate::api;
use crate::html::Html;
use crate::model::{Metric, RunModel, contrasts, differences, in_words};
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
    let (about, runs) = (about(&a, &b, when), StoredValue::new((a, b)));
    view! {
        <div class="page">
            <header class="head">
                <h1>"Compare"</h1>
            </header>
            <div class="about" inner_html=about></div>
            <MetricSwitch metric/>
            <div inner_html=move || runs.with_value(|(a, b)| numbers(a, b, metric.get()))></div>
        </div>
    }
}

/// Which runs, and what differs between them, as HTML; `when` writes a time.
fn about(a: &RunModel, b: &RunModel, when: fn(&str) -> String) -> String {
    let mut h = Html::default();
    h.tag("<div class=\"sides\">");
    for (name, m) in [("A", a), ("B", b)] {
        let r = &m.record;
        let drive = r.drive.as_ref().map_or("", |d| d.model.as_deref().unwrap_or(&d.name));
        h.tag("<div class=\"side\"><h2>").text(name).tag(": <a href=\"/runs/").text(&r.id).tag("\">");
        h.text(r.spec.title()).tag("</a></h2><p class=\"fine\">").text(when(&r.started_at)).tag(" \u{b7} ").text(drive);
        h.tag(" \u{b7} ").text(&r.spec.target).tag("</p></div>");
    }
    h.tag("</div>");
    for (name, m) in [("A", a), ("B", b)] {
        if let Some(why) = incomparable(m) {
            h.tag("<p class=\"warning\">").text(name).tag(" is not comparable: ").text(why).tag(".</p>");
        }
    }
    let differing = differences(a, b);
    if differing.is_empty() {
        h.tag("<p>No known condition differs.</p>");
        return h.done();
    }
    h.tag("<table class=\"data\" data-testid=\"differences\"><thead><tr><th scope=\"col\">Differs</th>");
    h.tag("<th scope=\"col\" class=\"text\">A</th><th scope=\"col\" class=\"text\">B</th></tr></thead><tbody>");
    for (name, left, right) in differing {
        h.tag("<tr><th scope=\"row\">").text(name).tag("</th><td class=\"text\">").text(left);
        h.tag("</td><td class=\"text\">").text(right).tag("</td></tr>");
    }
    h.tag("</tbody></table>");
    h.done()
}

/// Same rows side by side, as HTML.
fn numbers(a: &RunModel, b: &RunModel, metric: Metric) -> String {
    let mut h = Html::default();
    h.tag(
        "<table class=\"list versus\"><thead><tr><th scope=\"col\">Test</th><th scope=\"col\" class=\"figure\">A</th>",
    );
    h.tag("<th scope=\"col\" class=\"figure\">B</th><th scope=\"col\" class=\"figure\">B against A</th></tr></thead><tbody>");
    for c in contrasts(a, b, metric) {
        h.tag("<tr><th scope=\"row\">").text(&c.label).tag("</th>");
        for side in [&c.a, &c.b] {
            h.tag("<td class=\"figure\">");
            match side {
                None => h.tag("<span class=\"fine\">not measured</span>"),
                Some((v, statistic)) => {
                    let figure = metric.format(*v);
                    h.tag("<span class=\"value\">")
                        .text(figure.value)
                        .tag("</span><span class=\"unit\"> ")
                        .text(figure.unit);
                    h.tag("</span><span class=\"fine\">").text(statistic).tag("</span>")
                }
            };
            h.tag("</td>");
        }
        // A difference whose interval holds "none" is shown, but quietly.
        let sure = c.difference.as_ref().is_some_and(lab::Comparison::differs);
        let (change, detail) = c.difference.as_ref().map_or_else(|| ("\u{2014}".into(), String::new()), in_words);
        h.tag(if sure { "<td class=\"figure\"" } else { "<td class=\"figure unsure\"" });
        h.tag(" data-testid=\"difference\"><span class=\"value\">").text(change).tag("</span><span class=\"fine\">");
        h.text(detail).tag("</span></td></tr>");
    }
    h.tag(
        "</tbody></table><p class=\"fine\">Difference of the geometric means of all scored passes, with its 95\u{a0}% ",
    );
    h.tag("interval. Grey where the interval holds zero or cannot be told.</p>");
    h.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fixture;

    #[test]
    fn every_text_of_a_run_is_text() {
        let mut record = fixture::record(1);
        record.spec.target = "/mnt/<b>".into();
        let (a, b) = (RunModel::new(fixture::record(1)), RunModel::new(record));
        let html = about(&a, &b, str::to_owned);
        assert!(html.contains("/mnt/&lt;b") && !html.contains("<b>"), "{html}");
        let numbers = numbers(&a, &b, Metric::default());
        assert_eq!(numbers.matches("data-testid=\"difference\"").count(), 1, "{numbers}");
    }
}
