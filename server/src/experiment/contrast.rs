//! Experiments side by side.

use super::export;
use crate::runner::Runner;
use lab::side_by_side::side_by_side;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{ExperimentFile, SideBySide};

/// Most experiments in one comparison.
pub const MOST_SIDES: usize = 8;

/// Compares stored experiments, the first being what the others are held against.
pub fn contrast(runner: &Runner, ids: &[String]) -> Result<SideBySide, ErrorBody> {
    check(ids)?;
    let files = ids.iter().map(|id| export(runner, id)).collect::<Result<Vec<ExperimentFile>, _>>()?;
    Ok(side_by_side(&files))
}

/// Refuses what is no comparison.
pub(crate) fn check(names: &[String]) -> Result<(), ErrorBody> {
    let refused = |message: String| Err(ErrorBody::new(ErrorCode::Usage, message));
    if let Some(twice) = names.iter().enumerate().find(|(n, name)| names.iter().take(*n).any(|o| o == *name)) {
        return refused(format!("Experiment {} is named twice.", twice.1));
    }
    match names.len() {
        0 | 1 => refused("A comparison needs two experiments or more.".into()),
        2..=MOST_SIDES => Ok(()),
        n => refused(format!("{n} experiments are too many for one comparison; at most {MOST_SIDES} are possible.")),
    }
}
