//! Experiments of several drives or hosts side by side: the same drive behind different hosts, the same host with
//! different drives, the same of both at different times.
//!
//! What differs in the conditions is named before any number, and what forbids a comparison of speeds takes the numbers
//! that would compare them away. Effects stay comparable: each was measured within its own experiment.

mod conditions;
mod effects;
mod speeds;
#[cfg(test)]
mod tests;

use protocol::experiment::ExperimentFile;
use protocol::experiment::side_by_side::{Side, SideBySide};

/// Compares experiments, the first being what the others are held against. Their conclusions are taken as they are.
pub fn side_by_side(files: &[ExperimentFile]) -> SideBySide {
    let differences = conditions::differences(files);
    let forbidden = differences.iter().any(|d| d.forbids);
    SideBySide {
        sides: files.iter().map(side).collect(),
        speeds: speeds::rows(files, forbidden),
        effects: effects::rows(files),
        differences,
    }
}

fn side(file: &ExperimentFile) -> Side {
    let ExperimentFile { experiment: record, state, report, .. } = file;
    let drive = record.drive.as_ref();
    Side {
        id: record.id.clone(),
        title: record.spec.title().to_owned(),
        design: record.spec.design,
        state: *state,
        started_at: record.started_at.clone(),
        host: record.host.hostname.clone(),
        drive: drive.and_then(|d| d.model.clone()),
        target: record.target.path.clone(),
        imported: record.imported,
        trials: u32::try_from(report.trials.len()).unwrap_or(u32::MAX),
        headline: report.headline.clone(),
        link: drive.and_then(|d| d.link.clone()),
        path: drive.map(|d| d.path.clone()).unwrap_or_default(),
    }
}
