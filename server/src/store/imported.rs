//! Experiments that were run elsewhere.

use super::experiments::summary_of;
use super::runs::write;
use super::{Store, StoreError};
use protocol::experiment::ExperimentFile;
use rusqlite::params;

impl Store {
    /// Stores an experiment that has ended, with all its trials or not at all. Of its conclusions the headline is
    /// stored, for the list.
    pub fn import_experiment(&self, file: &ExperimentFile) -> Result<(), StoreError> {
        let ExperimentFile { experiment: record, state, finished_at, error, report } = file;
        let error = error.as_ref().map(|e| write("error", e)).transpose()?;
        let db = self.connection();
        let all = db.unchecked_transaction()?;
        all.execute(
            "INSERT INTO experiments (id, state, finished_at, error, record, summary, headline)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                record.id,
                state.name(),
                finished_at,
                error,
                write("experiment", record)?,
                write("summary", &summary_of(record))?,
                report.headline
            ],
        )?;
        {
            let mut add = all.prepare_cached("INSERT INTO trials (experiment, n, trial) VALUES (?1, ?2, ?3)")?;
            for trial in &report.trials {
                add.execute(params![record.id, trial.number, write("trial", trial)?])?;
            }
        }
        all.commit()?;
        Ok(())
    }
}
