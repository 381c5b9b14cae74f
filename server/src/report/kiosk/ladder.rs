//! The last ladder: what each rung yields.

use super::{day, heading};
use crate::report::chart::levels::{draw, draw_large};
use crate::report::data::Data;
use crate::report::figures::metric;
use crate::report::markup::Markup;
use crate::report::section::levels::levels;
use protocol::experiment::ExperimentFile;

/// Rungs that can still be read from three metres.
const MOST: usize = 12;

/// An experiment whose configurations follow one another, under its first workload; empty where nothing was measured.
pub fn ladder(file: &ExperimentFile) -> String {
    let data = Data::of(file);
    let Some((workload, measured)) = data.workloads.first().copied() else { return String::new() };
    let record = &file.experiment;
    let drive = record.drive.as_ref().and_then(|d| d.model.as_deref());
    let mut m = Markup::default();
    let about = [Some(file.report.spec.title()), drive, record.host.hostname.as_deref(), Some(day(&record.started_at))];
    heading(&mut m, &about, &file.report.headline);
    let caption = format!("{workload}: {}, median over trials", metric(measured));
    let mut rungs = levels(&data, workload, measured, false);
    let left_out = rungs.len().saturating_sub(MOST);
    rungs.truncate(MOST);
    // One of the two is shown: where there is more width than height, or more height than width.
    m.classed("figure", "kiosk-chart rungs", |m| draw_large(m, &rungs, measured, &caption));
    m.classed("figure", "kiosk-chart upright", |m| draw(m, &rungs, measured, true, &caption));
    let rest = if left_out == 0 { String::new() } else { format!("; {left_out} more rungs on its page") };
    m.note("p", "about", format!("{caption}{rest}"));
    m.into_string()
}
