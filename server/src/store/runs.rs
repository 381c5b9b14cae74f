//! Runs and their results.

use super::{Store, StoreError};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::result::StepResult;
use protocol::run::{RunRecord, RunState, RunSummary};
use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is known to be alive when runs are looked at that never ended.
#[derive(Debug, Clone, Default)]
pub struct Living {
    /// The run that is on in some process; `Some("")` when one is on but it is not known which.
    pub running: Option<String>,
    /// Whether a server lives, to which queued runs belong.
    pub server: bool,
}

impl Store {
    /// Stores a run that is queued or begins; one of the same id is replaced, as when a queued run begins.
    pub fn begin(&self, record: &RunRecord) -> Result<(), StoreError> {
        let bare = RunRecord { results: Vec::new(), ..record.clone() };
        self.connection().execute(
            "INSERT INTO runs (id, state, summary, record) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO UPDATE SET state = ?2, summary = ?3, record = ?4",
            params![record.id, record.state.name(), write("summary", &record.summary())?, write("run", &bare)?],
        )?;
        Ok(())
    }

    /// Adds the result of a step.
    pub fn add_result(&self, run: &str, result: &StepResult) -> Result<(), StoreError> {
        self.connection().execute(
            "INSERT OR REPLACE INTO results (run, step, result) VALUES (?1, ?2, ?3)",
            params![run, result.step, write("result", result)?],
        )?;
        Ok(())
    }

    /// Stores how a run ended: state, time, error and the summary's headline.
    pub fn finish(&self, record: &RunRecord) -> Result<(), StoreError> {
        let error = record.error.as_ref().map(|e| write("error", e)).transpose()?;
        let changed = self.connection().execute(
            "UPDATE runs SET state = ?2, finished_at = ?3, error = ?4, summary = ?5 WHERE id = ?1",
            params![record.id, record.state.name(), record.finished_at, error, write("summary", &record.summary())?],
        )?;
        found(changed, &record.id)
    }

    /// Summaries of all runs, newest first. One that cannot be read is left out, and that is logged.
    pub fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        let db = self.connection();
        let mut query = db.prepare_cached("SELECT summary, state FROM runs ORDER BY id DESC")?;
        let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let mut list = Vec::new();
        for row in rows {
            let (summary, state) = row?;
            match read::<RunSummary>("summary", &summary)
                .and_then(|s| Ok(RunSummary { state: read_state(&state)?, ..s }))
            {
                Ok(summary) => list.push(summary),
                Err(e) => tracing::warn!("{e}"),
            }
        }
        Ok(list)
    }

    /// Everything about one run except its samples.
    pub fn get(&self, run: &str) -> Result<RunRecord, StoreError> {
        let db = self.connection();
        let row: Option<(String, String, Option<String>, Option<String>)> = db
            .prepare_cached("SELECT record, state, finished_at, error FROM runs WHERE id = ?1")?
            .query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .optional()?;
        let (record, state, finished_at, error) = row.ok_or_else(|| StoreError::NotFound(run.into()))?;
        let mut record: RunRecord = read("run", &record)?;
        record.state = read_state(&state)?;
        record.finished_at = finished_at;
        record.error = error.map(|e| read("error", &e)).transpose()?;
        let mut query = db.prepare_cached("SELECT result FROM results WHERE run = ?1 ORDER BY step")?;
        record.results = query
            .query_map([run], |row| row.get::<_, String>(0))?
            .map(|row| read("result", &row?))
            .collect::<Result<_, _>>()?;
        Ok(record)
    }

    /// Removes a run with its results and samples.
    pub fn delete(&self, run: &str) -> Result<(), StoreError> {
        let changed = self.connection().execute("DELETE FROM runs WHERE id = ?1", [run])?;
        found(changed, run)
    }

    /// Marks runs that are stored as queued or running, but whose process is gone, as interrupted. Returns their ids.
    pub fn mark_interrupted(&self, living: &Living) -> Result<Vec<String>, StoreError> {
        let open: Vec<(String, String)> = {
            let db = self.connection();
            let mut query = db.prepare("SELECT id, state FROM runs WHERE state IN ('queued', 'running')")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
        };
        let lives = |(id, state): &(String, String)| match living.running.as_deref() {
            Some(run) if run.is_empty() || run == id => true,
            _ => state == RunState::Queued.name() && living.server,
        };
        let dead: Vec<String> = open.into_iter().filter(|run| !lives(run)).map(|(id, _)| id).collect();
        for id in &dead {
            let mut record = self.get(id)?;
            record.state = RunState::Interrupted;
            record.error = Some(ErrorBody::new(ErrorCode::Interrupted, "The program ended before the run did."));
            self.finish(&record)?;
        }
        Ok(dead)
    }
}

fn found(changed: usize, run: &str) -> Result<(), StoreError> {
    if changed == 0 { Err(StoreError::NotFound(run.into())) } else { Ok(()) }
}

pub(super) fn write(what: &'static str, value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|source| StoreError::Document { what, source })
}

pub(super) fn read<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|source| StoreError::Document { what, source })
}

pub(super) fn read_state(name: &str) -> Result<RunState, StoreError> {
    serde_json::from_value(name.into()).map_err(|source| StoreError::Document { what: "state", source })
}
