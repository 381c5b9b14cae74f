//! Every pass of a group, and its latency percentiles.

use crate::format;
use crate::live::Handle;
use crate::model::RunModel;
use crate::part::Term;
use leptos::prelude::*;
use protocol::result::{Direction, PERCENTILES, StepResult};

/// One pass and how it is marked.
#[derive(Debug, Clone, PartialEq)]
struct Pass {
    name: String,
    remark: String,
    result: StepResult,
}

fn passes(model: &RunModel, group: usize) -> Option<(String, Vec<Pass>)> {
    let group = model.groups.get(group)?;
    let best = group.scored(&model.record.results).map(|r| r.bw().0).fold(0.0, f64::max);
    let several = group.steps.len() - group.warmups > 1;
    let passes = group.steps.iter().enumerate().filter_map(|(i, step)| {
        let result = model.record.results.iter().find(|r| r.step == *step)?.clone();
        let warmup = i < group.warmups;
        let remark = match &result {
            _ if warmup => "not scored".into(),
            r if r.cut_short => "stopped early".into(),
            r if group.cell.is_some() && several && r.bw().0 >= best => "best throughput".into(),
            r => r.not_comparable().map(|why| format!("not comparable: {why}")).unwrap_or_default(),
        };
        let name = if warmup { "first".into() } else { (i + 1 - group.warmups).to_string() };
        Some(Pass { name, remark, result })
    });
    Some((group.label.clone(), passes.collect()))
}

/// Percentile `p` over the directions; the worse one where there are two, which the heading says.
fn worst(result: &StepResult, p: f64) -> Option<f64> {
    result.directions().filter_map(|d| d.lat.percentile(p)).map(|n| n.0 as f64).reduce(f64::max)
}

fn latency(ns: Option<f64>) -> String {
    ns.map_or_else(|| "\u{2014}".into(), |v| format::latency(v).text())
}

/// Tables for the chosen group; nothing while nothing has ended.
#[component]
pub(crate) fn Detail(handle: Handle, group: Signal<usize>) -> impl IntoView {
    let found = Memo::new(move |_| handle.run(|m| passes(m, group.get())).flatten().filter(|(_, p)| !p.is_empty()));
    move || {
        found.get().map(|(label, passes)| {
            let mixed = passes.iter().any(|p| p.result.read.is_some() && p.result.write.is_some());
            let row = |p: &Pass| {
                let r = &p.result;
                let max = r.directions().map(|d| d.lat.max_ns.0 as f64).reduce(f64::max);
                view! {
                    <tr>
                        <th scope="row">{p.name.clone()}</th>
                        <td>{format::throughput(r.bw()).value}</td>
                        <td>{format::iops(r.iops()).value}</td>
                        <td>{latency(r.mean_latency_ns())}</td>
                        <td>{latency(worst(r, 50.0))}</td>
                        <td>{latency(worst(r, 99.0))}</td>
                        <td>{latency(max)}</td>
                        <td>{format::latency(r.cpu.per_io_ns).text()}</td>
                        <td class="text">{p.remark.clone()}</td>
                    </tr>
                }
            };
            let rows = passes.iter().map(row).collect_view();
            view! {
                <section class="detail">
                    <h3>{label} ", every pass"</h3>
                    <div class="scroll" tabindex="0" role="region" aria-label="Every pass">
                        <table class="data" data-testid="passes">
                            <thead>
                                <tr>
                                    <th scope="col">"Pass"</th>
                                    <th scope="col">"MB/s"</th>
                                    <th scope="col">"IOPS"</th>
                                    <th scope="col">"mean"</th>
                                    <th scope="col">
                                        <Term name="p50"/>
                                    </th>
                                    <th scope="col">
                                        <Term name="p99"/>
                                    </th>
                                    <th scope="col">"max"</th>
                                    <th scope="col">"CPU per access"</th>
                                    <th scope="col" class="text">"Remark"</th>
                                </tr>
                            </thead>
                            <tbody>{rows}</tbody>
                        </table>
                    </div>
                    {mixed
                        .then(|| {
                            view! {
                                <p class="fine">
                                    "Of reads and writes the slower percentile is shown; below they stand apart."
                                </p>
                            }
                        })}
                    <Percentiles passes/>
                </section>
            }
        })
    }
}

/// All stored percentiles of every pass.
#[component]
fn Percentiles(passes: Vec<Pass>) -> impl IntoView {
    let table = |name: &'static str, pick: fn(&StepResult) -> Option<&Direction>| {
        let with: Vec<_> = passes.iter().filter_map(|p| Some((p.name.clone(), pick(&p.result)?.lat.clone()))).collect();
        (!with.is_empty()).then(|| {
            let head = with.iter().map(|(n, _)| view! { <th scope="col">"pass " {n.clone()}</th> }).collect_view();
            let row = |p: f64| {
                let cells = with.iter().map(|(_, l)| view! { <td>{latency(l.percentile(p).map(|n| n.0 as f64))}</td> });
                view! {
                    <tr>
                        <th scope="row">"p" {p.to_string()}</th>
                        {cells.collect_view()}
                    </tr>
                }
            };
            view! {
                <table class="data">
                    <caption>"Latency of " {name}</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Percentile"</th>
                            {head}
                        </tr>
                    </thead>
                    <tbody>{PERCENTILES.map(row).collect_view()}</tbody>
                </table>
            }
        })
    };
    let (reads, writes) = (table("reads", |r| r.read.as_ref()), table("writes", |r| r.write.as_ref()));
    view! {
        <details class="behind">
            <summary>"Latency percentiles"</summary>
            <div class="scroll" tabindex="0" role="region" aria-label="Latency percentiles">
                {reads}
                {writes}
            </div>
        </details>
    }
}
