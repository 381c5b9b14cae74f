//! Experiments and their trials. A trial is on disk's side of the process once it has ended: killing the program loses
//! none.

use super::runs::{read, read_state, write};
use super::{Store, StoreError};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{ExperimentRecord, ExperimentSummary, Trial};
use protocol::run::RunState;
use rusqlite::{OptionalExtension, params};

/// An experiment as it is stored, without its trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// As it began.
    pub record: ExperimentRecord,
    /// Where it stands.
    pub state: RunState,
    /// End, RFC 3339, UTC.
    pub finished_at: Option<String>,
    /// Why it ended before its time.
    pub error: Option<ErrorBody>,
}

impl Store {
    /// Stores an experiment that begins or goes on.
    pub fn begin_experiment(&self, record: &ExperimentRecord) -> Result<(), StoreError> {
        self.connection().execute(
            "INSERT INTO experiments (id, state, record, summary) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO UPDATE
             SET state = ?2, finished_at = NULL, error = NULL, record = ?3, summary = ?4, headline = NULL",
            params![
                record.id,
                RunState::Running.name(),
                write("experiment", record)?,
                write("summary", &summary_of(record))?
            ],
        )?;
        Ok(())
    }

    /// Adds a trial that has ended.
    pub fn add_trial(&self, experiment: &str, trial: &Trial) -> Result<(), StoreError> {
        self.connection()
            .prepare_cached("INSERT INTO trials (experiment, n, trial) VALUES (?1, ?2, ?3)")?
            .execute(params![experiment, trial.number, write("trial", trial)?])?;
        Ok(())
    }

    /// Stores how an experiment ended, and what it found, in a sentence.
    pub fn finish_experiment(
        &self,
        id: &str,
        state: RunState,
        finished_at: &str,
        error: Option<&ErrorBody>,
        headline: Option<&str>,
    ) -> Result<(), StoreError> {
        let error = error.map(|e| write("error", e)).transpose()?;
        let changed = self.connection().execute(
            "UPDATE experiments SET state = ?2, finished_at = ?3, error = ?4, headline = ?5 WHERE id = ?1",
            params![id, state.name(), finished_at, error, headline],
        )?;
        if changed == 0 { Err(StoreError::NoExperiment(id.into())) } else { Ok(()) }
    }

    /// Ids of all experiments, newest first.
    pub fn experiments(&self) -> Result<Vec<String>, StoreError> {
        let db = self.connection();
        let mut query = db.prepare_cached("SELECT id FROM experiments ORDER BY id DESC")?;
        let ids = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(ids)
    }

    /// One experiment. One that a newer version began is refused.
    pub fn experiment(&self, id: &str) -> Result<Stored, StoreError> {
        type Row = (String, String, Option<String>, Option<String>);
        let row: Option<Row> = self
            .connection()
            .prepare_cached("SELECT record, state, finished_at, error FROM experiments WHERE id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .optional()?;
        let (record, state, finished_at, error) = row.ok_or_else(|| StoreError::NoExperiment(id.into()))?;
        let format: Format = read("experiment", &record)?;
        protocol::experiment::outcome::check_format(format.format).map_err(StoreError::NewerExperiment)?;
        Ok(Stored {
            record: read("experiment", &record)?,
            state: read_state(&state)?,
            finished_at,
            error: error.map(|e| read("error", &e)).transpose()?,
        })
    }

    /// The trials of an experiment in the order in which they ran.
    pub fn trials(&self, experiment: &str) -> Result<Vec<Trial>, StoreError> {
        let db = self.connection();
        let mut query = db.prepare_cached("SELECT trial FROM trials WHERE experiment = ?1 ORDER BY n")?;
        query.query_map([experiment], |row| row.get::<_, String>(0))?.map(|row| read("trial", &row?)).collect()
    }

    /// Summaries of all experiments, newest first. One that cannot be read is left out, and that is logged.
    pub fn experiment_summaries(&self) -> Result<Vec<ExperimentSummary>, StoreError> {
        type Row = (String, Option<String>, String, Option<String>, Option<String>, Option<String>, u32);
        let rows: Vec<Row> = {
            let db = self.connection();
            let mut query = db.prepare_cached(
                "SELECT id, summary, state, finished_at, error, headline,
                    (SELECT count(*) FROM trials WHERE experiment = id)
                 FROM experiments ORDER BY id DESC",
            )?;
            let row = |r: &rusqlite::Row<'_>| {
                Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?, r.get(6)?))
            };
            query.query_map([], row)?.collect::<Result<_, _>>()?
        };
        let whole = |(id, summary, state, finished_at, error, headline, trials): Row| {
            let summary = match summary {
                Some(summary) => read("summary", &summary)?,
                None => summary_of(&self.experiment(&id)?.record),
            };
            let error = error.map(|e| read("error", &e)).transpose()?;
            Ok(ExperimentSummary { state: read_state(&state)?, finished_at, error, headline, trials, ..summary })
        };
        let log = |e: StoreError| tracing::warn!("{e}");
        Ok(rows.into_iter().filter_map(|row| whole(row).map_err(log).ok()).collect())
    }

    /// Stores what an experiment found, in a sentence, where that was worked out later.
    pub fn set_headline(&self, experiment: &str, headline: &str) -> Result<(), StoreError> {
        let update = "UPDATE experiments SET headline = ?2 WHERE id = ?1";
        self.connection().execute(update, params![experiment, headline])?;
        Ok(())
    }

    /// Removes an experiment with its trials.
    pub fn delete_experiment(&self, id: &str) -> Result<(), StoreError> {
        let changed = self.connection().execute("DELETE FROM experiments WHERE id = ?1", [id])?;
        if changed == 0 { Err(StoreError::NoExperiment(id.into())) } else { Ok(()) }
    }

    /// Number of trials of an experiment.
    pub fn trial_count(&self, experiment: &str) -> Result<u32, StoreError> {
        let db = self.connection();
        let count = "SELECT count(*) FROM trials WHERE experiment = ?1";
        Ok(db.prepare_cached(count)?.query_row([experiment], |row| row.get(0))?)
    }

    /// Marks experiments that are stored as running, but whose process is gone, as interrupted. `living` is the one
    /// that is on in some process; `Some("")` when one is on but it is not known which.
    pub fn mark_experiments_interrupted(&self, living: Option<&str>) -> Result<Vec<String>, StoreError> {
        if living == Some("") {
            return Ok(Vec::new());
        }
        let error = ErrorBody::new(ErrorCode::Interrupted, "The program ended before the experiment did.");
        let db = self.connection();
        let mut query =
            db.prepare("UPDATE experiments SET state = ?1, error = ?2 WHERE state = ?3 AND id IS NOT ?4 RETURNING id")?;
        let names = (RunState::Interrupted.name(), RunState::Running.name());
        let dead = query.query_map(params![names.0, write("error", &error)?, names.1, living], |row| row.get(0))?;
        Ok(dead.collect::<Result<_, _>>()?)
    }
}

pub(super) fn summary_of(record: &ExperimentRecord) -> ExperimentSummary {
    ExperimentSummary {
        id: record.id.clone(),
        state: RunState::Running,
        title: record.spec.title().to_owned(),
        design: record.spec.design,
        target: record.target.path.clone(),
        drive: record.drive.as_ref().map(|d| d.model.clone().unwrap_or_else(|| d.name.clone())),
        host: record.host.hostname.clone(),
        started_at: record.started_at.clone(),
        finished_at: None,
        error: None,
        trials: 0,
        headline: None,
        imported: record.imported,
    }
}

/// The one field that every version writes.
#[derive(Debug, serde::Deserialize)]
struct Format {
    format: u32,
}
