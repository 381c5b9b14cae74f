//! What settings do together.

use super::section;
use super::table::{Column, behind_chart};
use crate::report::data::Data;
use crate::report::figures::{NONE, interval, metric, percent};
use crate::report::markup::Markup;
use protocol::experiment::Interaction;

const COLUMNS: [Column; 6] = [
    ("settings", true),
    ("workload", true),
    ("metric", true),
    ("change", false),
    ("interval", false),
    ("matters", true),
];

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    let all = &data.file.report.interactions;
    if all.is_empty() {
        return;
    }
    section(m, "Together", |m| {
        let said: Vec<_> = all.iter().filter_map(|i| i.sentence.as_ref()).collect();
        if said.is_empty() {
            m.leaf("p", "No two settings are shown to cost more together than each does alone.");
        } else {
            m.element("ul", &[], |m| said.iter().for_each(|s| m.leaf("li", s)));
        }
        behind_chart(m, &COLUMNS, all.iter().map(|i| row(data, i)).collect());
    });
}

fn row(data: &Data<'_>, i: &Interaction) -> Vec<String> {
    let pair = |[a, b]: &[String; 2]| format!("{} and {}", data.titles.title(a), data.titles.title(b));
    vec![
        i.knobs.iter().map(pair).collect::<Vec<_>>().join(", or "),
        i.workload.clone(),
        metric(i.metric).into(),
        i.estimate_percent.map_or(NONE.into(), percent),
        interval(i.low_percent, i.high_percent),
        if i.matters { "yes" } else { "not shown" }.into(),
    ]
}
