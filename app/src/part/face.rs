//! The face of a run: reading, curve, progress, and the grid or rows of what it measures.

use super::cell::{Cell, scale};
use super::detail::Detail;
use super::notice::Notice;
use super::progress::Progress;
use super::reading::Reading;
use super::switch::MetricSwitch;
use crate::chart::Chart;
use crate::live::Handle;
use crate::model::{Metric, RunModel};
use leptos::prelude::*;
use protocol::preset::Column;
use protocol::run::RunState;

/// What the layout of the face depends on: with the same shape only numbers change.
#[derive(Debug, Clone, PartialEq)]
struct Shape {
    run: String,
    rows: Vec<String>,
    columns: Vec<Column>,
    /// Row, column and index of each group.
    cells: Vec<(String, Option<Column>, usize)>,
}

impl Shape {
    fn of(model: &RunModel) -> Self {
        let mut shape = Self { run: model.record.id.clone(), rows: vec![], columns: vec![], cells: vec![] };
        for (index, group) in model.groups.iter().enumerate() {
            let (row, column) = group.row_and_column();
            if column.is_none() || !shape.rows.contains(&row) {
                shape.rows.push(row.clone());
            }
            if let Some(column) = column.filter(|c| !shape.columns.contains(c)) {
                shape.columns.push(column);
            }
            shape.cells.push((row, column, index));
        }
        shape
    }
}

/// Everything that moves, and what it leaves behind.
#[component]
pub(crate) fn Face(handle: Handle) -> impl IntoView {
    let metric = RwSignal::new(Metric::default());
    let chosen = RwSignal::new(None::<usize>);
    let shape = Memo::new(move |_| handle.run(Shape::of));
    Effect::new(move || {
        shape.track();
        chosen.set(None);
    });
    let group = Memo::new(move |_| chosen.get().or_else(|| handle.run(RunModel::main_group)).unwrap_or(0));
    let error = Memo::new(move |_| handle.run(|m| m.record.error.clone()).flatten());
    // Spoken when the run changes its state, not with every pass.
    let spoken = Memo::new(move |_| {
        handle.run(|m| match m.record.state {
            _ if m.is_plan() => "",
            RunState::Queued => "Run waits",
            RunState::Running if m.layout.is_some() => "Laying out the file",
            RunState::Running => "Measuring",
            RunState::Done => "Run done",
            RunState::Stopped => "Run stopped",
            RunState::Failed | RunState::Interrupted => "Run failed",
        })
    });
    view! {
        <div class="face">
            <p class="visually-hidden" role="status">{move || spoken.get()}</p>
            <div class="top">
                <Reading handle metric=metric.into() group=group.into()/>
                <MetricSwitch metric/>
            </div>
            {move || error.get().map(|error| view! { <Notice error/> })}
            <Progress handle/>
            <Chart handle metric=metric.into() group=group.into()/>
            {move || {
                let shape = shape.get()?;
                Some(view! { <Results handle shape metric=metric.into() group=group.into() chosen/> })
            }}
            <Detail handle group=group.into()/>
        </div>
    }
}

/// The grid of a preset, or a list of workloads.
#[component]
fn Results(
    handle: Handle,
    shape: Shape,
    metric: Signal<Metric>,
    group: Signal<usize>,
    chosen: RwSignal<Option<usize>>,
) -> impl IntoView {
    let legend = Memo::new(move |_| handle.run(scale));
    let Shape { rows, columns, cells, .. } = shape;
    let body = if columns.is_empty() {
        let one = |(label, _, index): (String, Option<Column>, usize)| {
            view! {
                <li>
                    <Cell handle index metric group chosen label/>
                </li>
            }
        };
        view! { <ul class="rows">{cells.into_iter().map(one).collect_view()}</ul> }.into_any()
    } else {
        let head = columns.iter().map(|c| view! { <th scope="col" class=c.name()>{c.name()}</th> }).collect_view();
        let line = |row: String| {
            let cell = |c: &Column| {
                let found = cells.iter().find(|(r, column, _)| *r == row && column.as_ref() == Some(c));
                view! { <td>{found.map(|&(.., index)| view! { <Cell handle index metric group chosen/> })}</td> }
            };
            let tds = columns.iter().map(cell).collect_view();
            view! {
                <tr>
                    <th scope="row">{row}</th>
                    {tds}
                </tr>
            }
        };
        view! {
            <table class=format!("grid columns-{}", columns.len())>
                <thead>
                    <tr>
                        <th scope="col">
                            <span class="visually-hidden">"Test"</span>
                        </th>
                        {head}
                    </tr>
                </thead>
                <tbody>{rows.into_iter().map(line).collect_view()}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        <section class="results" aria-label="Results">
            {body}
            <p class="fine">{move || legend.get()}</p>
        </section>
    }
}
