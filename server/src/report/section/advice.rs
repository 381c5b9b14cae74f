//! What to do, for each use.

use super::table::{Column, table};
use super::{behind, section};
use crate::report::data::Data;
use crate::report::figures::{NONE, interval, percent, saving};
use crate::report::markup::Markup;
use protocol::experiment::{Effect, Recommendation, Use};

const COLUMNS: [Column; 6] = [
    ("setting", true),
    ("for latency", true),
    ("for throughput", true),
    ("for battery", true),
    ("largest change (interval)", false),
    ("saves at idle", false),
];

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    let report = &data.file.report;
    let mut knobs: Vec<&str> = Vec::new();
    for r in &report.recommendation {
        if !knobs.contains(&r.knob.as_str()) {
            knobs.push(&r.knob);
        }
    }
    if knobs.is_empty() || data.counted().next().is_none() {
        return;
    }
    let of = |knob: &str, purpose: Use| report.recommendation.iter().find(|r| r.knob == knob && r.purpose == purpose);
    section(m, "What to do", |m| {
        let row =
            |knob: &&str| {
                let effects = || report.effects.iter().filter(|e| e.primary && e.knob == **knob);
                let size = |e: &&Effect| e.estimate_percent.unwrap_or_default().abs();
                let largest = effects().max_by(|a, b| size(a).total_cmp(&size(b)));
                let change = largest.and_then(|e| Some((e, e.estimate_percent?)));
                let change = change.map_or(NONE.to_owned(), |(e, p)| {
                    format!("{} ({}) on {}", percent(p), interval(e.low_percent, e.high_percent), e.workload)
                });
                let mut cells = vec![data.titles.title(knob).to_owned()];
                cells.extend(Use::ALL.map(|purpose| {
                    of(knob, purpose).map_or("not asked".into(), |r| action(r, data.titles.found(knob)))
                }));
                cells.extend([change, largest.map_or(NONE.into(), saving)]);
                cells
            };
        table(m, &COLUMNS, knobs.iter().map(row).collect::<Vec<_>>());
        behind(m, "Why, in words", |m| {
            for purpose in Use::ALL {
                let said: Vec<_> = report.recommendation.iter().filter(|r| r.purpose == purpose).collect();
                if said.is_empty() {
                    continue;
                }
                m.leaf("h3", heading(purpose));
                m.element("ul", &[], |m| said.iter().for_each(|r| m.leaf("li", &r.sentence)));
            }
        });
    });
}

/// In two words and the value.
fn action(r: &Recommendation, found: Option<&str>) -> String {
    match (&r.value, found) {
        (None, _) => "not known yet".into(),
        (Some(value), Some(found)) if found == value => format!("leave at {value}"),
        (Some(value), Some(_)) => format!("set to {value}"),
        (Some(value), None) => format!("take {value}"),
    }
}

fn heading(purpose: Use) -> &'static str {
    match purpose {
        Use::Latency => "Where single accesses must be answered fast",
        Use::Throughput => "Where much data is moved",
        Use::Battery => "Where power must be saved",
    }
}
