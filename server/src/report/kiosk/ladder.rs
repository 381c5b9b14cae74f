//! The last ladder: what each rung yields.

use super::{day, heading};
use crate::report::chart::levels::draw;
use crate::report::data::Data;
use crate::report::figures::metric;
use crate::report::markup::Markup;
use crate::report::section::levels::levels;
use protocol::experiment::ExperimentFile;

/// An experiment whose configurations follow one another, under its first workload; empty where nothing was measured.
pub fn ladder(file: &ExperimentFile) -> String {
    let data = Data::of(file);
    let Some((workload, measured)) = data.workloads.first().copied() else { return String::new() };
    let record = &file.experiment;
    let drive = record.drive.as_ref().and_then(|d| d.model.as_deref());
    let mut m = Markup::default();
    let about = [Some(file.report.spec.title()), drive, record.host.hostname.as_deref(), Some(day(&record.started_at))];
    heading(&mut m, &about, &file.report.headline);
    let caption = format!("{workload}: {}, median over trials; points are trials", metric(measured));
    let rungs = levels(&data, workload, measured, false);
    m.classed("figure", "kiosk-chart", |m| draw(m, &rungs, measured, true, &caption));
    m.note("p", "about", &caption);
    m.into_string()
}
