//! A run as text for people.

mod conditions;
mod grid;
mod steps;

use super::output::shown;
use super::table::pairs;
use protocol::run::{RunRecord, RunState};

/// The whole report: what was run where, the numbers, and what is to be known before believing them.
pub(super) fn text(record: &RunRecord) -> String {
    let title = format!("{}  on {}", shown(&record.spec.title()), shown(&record.spec.target));
    let place = conditions::place(record).unwrap_or_default();
    let head = format!("{title}\n{place}");
    let numbers = if record.spec.preset.is_some() { grid::text(record) } else { steps::text(record) };
    let mut parts = vec![head.trim_end().to_owned() + "\n", numbers, pairs(conditions::all(record))];
    if record.state != RunState::Done {
        let why = record.error.as_ref().map(|e| format!(": {}", shown(&e.message))).unwrap_or_default();
        parts.push(format!("This run is not complete ({}{why}).\n", record.state.name()));
    }
    parts.join("\n")
}
