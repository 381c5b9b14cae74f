//! Experiments that were run elsewhere, brought here as a file.
//!
//! Nothing in the file is trusted. Its shape is bounded before anything is made of it, its plan is made again from its
//! knobs and must be the same, and what it concludes is worked out here from its trials. An experiment of elsewhere is
//! only ever read: it is never resumed, and keeps the name of its host.
//!
//! | module | what |
//! |---|---|
//! | `read` | bytes to a document of the right types, with the place of what is wrong |
//! | `shape` | depth, lengths and counts of any JSON document |
//! | `sound` | whether plan and trials belong together |
//! | `trials` | what a trial may say |
//! | `claims` | what the file concludes, against what its trials say |

mod claims;
mod read;
mod shape;
mod sound;
#[cfg(test)]
mod tests;
mod trials;

pub use read::MOST_BYTES;
pub(crate) use read::{file, too_long};

use super::record::conclude;
use crate::runner::{Runner, new_id};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{ExperimentFile, ExperimentRecord, Imported, Trial};
use protocol::run::RunState;

/// Reads an experiment file, judges its trials, and says where the file concludes otherwise. Nothing is stored.
pub fn open(json: &[u8]) -> Result<(ExperimentFile, Vec<String>), ErrorBody> {
    let read::Document { experiment, state, finished_at, error, trials, effects } = read::document(json)?;
    let experiment = ExperimentRecord { imported: true, ..experiment };
    sound::check(&experiment, finished_at.as_deref())?;
    trials::check(&experiment, &trials).map_err(|why| sound::refused(&why))?;
    let report = conclude(&experiment, trials)?;
    let notes = claims::against(&effects, &report.effects).into_iter().collect();
    let (state, error) = if state.ended() {
        (state, error)
    } else {
        let said = ErrorBody::new(ErrorCode::Interrupted, "It had not ended when the file was written.");
        (RunState::Interrupted, Some(said))
    };
    Ok((ExperimentFile { experiment, state, finished_at, error, report }, notes))
}

/// Stores an experiment of elsewhere, unless it is here already.
pub fn import(runner: &Runner, json: &[u8]) -> Result<Imported, ErrorBody> {
    let (mut file, mut notes) = open(json)?;
    let store = runner.store();
    let ids = store.experiments()?;
    for id in &ids {
        if same(runner, id, &file.experiment, &file.report.trials) {
            let called = &file.experiment.id;
            if called != id {
                notes.push(format!("The file calls it {called}; its settings and trials are those of {id}."));
            }
            return Ok(Imported { id: id.clone(), known: true, notes });
        }
    }
    if ids.contains(&file.experiment.id) {
        let taken = std::mem::replace(&mut file.experiment.id, new_id());
        notes.push(format!("Another experiment here is called {taken}; this one is now {}.", file.experiment.id));
    }
    store.import_experiment(&file)?;
    Ok(Imported { id: file.experiment.id, known: false, notes })
}

/// Whether a stored experiment has the same content, whatever it is called. One that cannot be read is another one.
fn same(runner: &Runner, id: &str, record: &ExperimentRecord, trials: &[Trial]) -> bool {
    let renamed = |r: ExperimentRecord| ExperimentRecord { id: record.id.clone(), imported: record.imported, ..r };
    runner.store().experiment(id).is_ok_and(|stored| renamed(stored.record) == *record)
        && runner.store().trials(id).is_ok_and(|stored| stored == trials)
}
