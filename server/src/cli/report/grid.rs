//! A preset's grid, in the manner of the tool it is named after.

use crate::cli::table::{Table, micros, number, whole};
use protocol::preset::{Cell, Column};
use protocol::run::RunRecord;

pub(super) fn text(record: &RunRecord) -> String {
    let cells = record.cells();
    let mut rows: Vec<&str> = Vec::new();
    for cell in &cells {
        if !rows.contains(&cell.key.row.as_str()) {
            rows.push(&cell.key.row);
        }
    }
    let columns: Vec<Column> =
        Column::ALL.into_iter().filter(|column| cells.iter().any(|c| c.key.column == *column)).collect();
    let names = columns.iter().flat_map(|c| [c.name(), "", ""]);
    let mut table = Table::new(&std::iter::once("").chain(names).collect::<Vec<_>>());
    let units = columns.iter().flat_map(|_| ["MB/s", "IOPS", "us"]);
    table.row(std::iter::once("").chain(units));
    for row in rows {
        let values = columns
            .iter()
            .flat_map(|column| values(cells.iter().find(|c| c.key.row == row && c.key.column == *column)));
        table.row(std::iter::once(row.to_owned()).chain(values));
    }
    format!("{}\n{}", table.render(), statistic(record))
}

fn values(cell: Option<&Cell>) -> [String; 3] {
    match cell.and_then(|c| c.score) {
        Some(s) => [number(s.bw.mb()), whole(s.iops.0), s.latency_ns.map_or("-".into(), micros)],
        None => ["-".into(), "-".into(), "-".into()],
    }
}

/// Which statistic the numbers are.
fn statistic(record: &RunRecord) -> String {
    let steps = &record.spec.steps;
    let passes = |warmup: bool| {
        let first = steps.first().and_then(|s| s.cell.as_ref());
        steps.iter().filter(|s| s.cell.as_ref() == first && s.warmup == warmup).count()
    };
    let workload = steps.first().map(|s| &s.workload);
    let size = workload.and_then(|w| w.size).map(|s| format!("{s}, ")).unwrap_or_default();
    let runtime = workload.map(|w| format!("{} per pass", w.runtime)).unwrap_or_default();
    let discarded = if passes(true) > 0 { "; the first pass is discarded" } else { "" };
    let mix = if steps.iter().any(|s| s.cell.as_ref().is_some_and(|c| c.column == Column::Mix)) {
        " The mix is 70 % reads; both directions count together."
    } else {
        ""
    };
    let which = match passes(false) {
        1 => "one pass".into(),
        n => format!("best of {n} passes (MB/s, IOPS: highest; us: lowest mean latency)"),
    };
    format!("{size}{runtime}, {which}{discarded}. MB = 10^6 bytes.{mix}\n")
}
