//! What each configuration yields, rung by rung where the design is a ladder.

use super::cost::climbs;
use super::table::{Column, behind_chart};
use super::{figure, section};
use crate::report::chart::levels::{Level, draw};
use crate::report::data::Data;
use crate::report::figures::{NONE, metric, value};
use crate::report::markup::Markup;
use lab::summary::Summary;
use protocol::experiment::{Configuration, Metric};

const COLUMNS: [Column; 7] = [
    ("configuration", true),
    ("changes", true),
    ("workload", true),
    ("median", false),
    ("lowest", false),
    ("highest", false),
    ("trials", false),
];

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    if data.counted().next().is_none() {
        return;
    }
    let climbing = climbs(data.file.report.spec.design);
    let heading = if climbing { "Rung by rung" } else { "What each configuration yields" };
    section(m, heading, |m| {
        m.classed("div", "charts", |m| {
            for (workload, metric_) in &data.workloads {
                let levels = levels(data, workload, *metric_, climbing);
                let caption = format!("{workload}: {}, median over trials; points are trials.", metric(*metric_));
                figure(m, &caption, |m| draw(m, &levels, *metric_, climbing, &caption));
            }
        });
        let rows = data.workloads.iter().flat_map(|(workload, metric)| {
            levels(data, workload, *metric, true).into_iter().map(|l| row(l, workload, *metric))
        });
        behind_chart(m, &COLUMNS, rows.collect());
    });
}

/// All configurations under one workload.
pub(in crate::report) fn levels(data: &Data<'_>, workload: &str, metric: Metric, climbing: bool) -> Vec<Level> {
    let all = data.configurations();
    let level = |(i, c): (usize, &Configuration)| Level {
        name: c.name.clone(),
        changes: if climbing { changes(i.checked_sub(1).and_then(|i| all.get(i)), c) } else { String::new() },
        values: data.values(i, workload, metric),
    };
    all.iter().enumerate().map(level).collect()
}

/// What a configuration changes against the one before it; all of it for the first.
fn changes(before: Option<&Configuration>, c: &Configuration) -> String {
    let differs = |a: &&protocol::knob::Assignment| before.is_none_or(|b| !b.set.contains(a));
    let mut parts: Vec<String> = c.set.iter().filter(differs).map(|a| format!("{} {}", a.id, a.value)).collect();
    if let Some(wait) = c.wait {
        parts.push(format!("wait {wait}"));
    }
    parts.join(", ")
}

fn row(level: Level, workload: &str, metric: Metric) -> Vec<String> {
    let all = Summary::of(&level.values);
    let number = |pick: fn(&Summary) -> f64| all.as_ref().map_or(NONE.into(), |s| value(metric, pick(s)));
    let (median, min, max) = (number(|s| s.median), number(|s| s.min), number(|s| s.max));
    vec![level.name, level.changes, workload.to_owned(), median, min, max, level.values.len().to_string()]
}
