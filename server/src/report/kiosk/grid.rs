//! The scored grid of the last preset.

use super::{day, heading};
use crate::report::figures::{NONE, digits, time};
use crate::report::markup::Markup;
use protocol::preset::{Cell, Column};
use protocol::run::RunRecord;

/// A run of a preset; empty where none of its cells has a score.
pub fn grid(record: &RunRecord) -> String {
    let cells = record.cells();
    if cells.iter().all(|c| c.score.is_none()) {
        return String::new();
    }
    let mut rows: Vec<&str> = Vec::new();
    for cell in &cells {
        if !rows.contains(&cell.key.row.as_str()) {
            rows.push(&cell.key.row);
        }
    }
    let columns: Vec<Column> =
        Column::ALL.into_iter().filter(|column| cells.iter().any(|c| c.key.column == *column)).collect();
    let drive = record.drive.as_ref().map(|d| d.model.as_deref().unwrap_or(&d.name));
    let mut m = Markup::default();
    heading(&mut m, &[record.host.hostname.as_deref(), Some(day(&record.started_at)), drive], &record.spec.title());
    m.classed("table", "kiosk-grid", |m| {
        m.element("tr", &[], |m| {
            m.leaf("th", "");
            for column in &columns {
                m.note("th", column.name(), column.name());
            }
        });
        for row in rows {
            m.element("tr", &[], |m| {
                m.leaf("th", row);
                for column in &columns {
                    score(m, cells.iter().find(|c| c.key.row == row && c.key.column == *column), *column);
                }
            });
        }
    });
    m.note("p", "about", "MB/s, the highest of the passes; below it IOPS and the lowest mean latency");
    m.into_string()
}

fn score(m: &mut Markup, cell: Option<&Cell>, column: Column) {
    m.classed("td", column.name(), |m| match cell.and_then(|c| c.score) {
        Some(score) => {
            m.leaf("b", digits(score.bw.mb()));
            let latency = score.latency_ns.map(|ns| format!(" \u{b7} {}", time(ns))).unwrap_or_default();
            m.note("span", "about", format!("{} IOPS{latency}", digits(score.iops.0)));
        }
        None => m.leaf("b", NONE),
    });
}
