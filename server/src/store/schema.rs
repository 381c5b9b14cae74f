//! The database's tables, as a list of steps from nothing to the newest version.

use super::StoreError;
use rusqlite::Connection;
use std::path::Path;

/// `MIGRATIONS[n]` leads from version n to n + 1. Entries are never changed once released, only added.
const MIGRATIONS: [&str; 3] = [
    "
    CREATE TABLE runs (
        id          TEXT PRIMARY KEY,   -- sorts by time
        state       TEXT NOT NULL,      -- RunState
        finished_at TEXT,
        error       TEXT,               -- ErrorBody
        summary     TEXT NOT NULL,      -- RunSummary; its state is overruled by the column
        record      TEXT NOT NULL       -- RunRecord as it began, without results
    );
    CREATE INDEX runs_by_state ON runs (state);
    CREATE TABLE results (
        run    TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        step   INTEGER NOT NULL,
        result TEXT NOT NULL,           -- StepResult
        PRIMARY KEY (run, step)
    );
    CREATE TABLE samples (
        run     TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        n       INTEGER NOT NULL,       -- position of the batch's first sample within the run
        samples TEXT NOT NULL,          -- JSON array of Sample
        PRIMARY KEY (run, n)
    );
",
    "
    CREATE TABLE experiments (
        id          TEXT PRIMARY KEY,   -- sorts by time
        state       TEXT NOT NULL,      -- RunState
        finished_at TEXT,
        error       TEXT,               -- ErrorBody
        record      TEXT NOT NULL       -- protocol::experiment::ExperimentRecord as it began
    );
    CREATE TABLE trials (
        experiment TEXT NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
        n          INTEGER NOT NULL,    -- position in the order in which they ran
        trial      TEXT NOT NULL,       -- Trial
        PRIMARY KEY (experiment, n)
    );
",
    "
    ALTER TABLE experiments ADD COLUMN summary TEXT;  -- ExperimentSummary as it began; NULL of older ones
    ALTER TABLE experiments ADD COLUMN headline TEXT; -- what was found; NULL until that was worked out
",
];

/// Brings the database to the newest version, or refuses one that is newer still.
pub(super) fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let found: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > known {
        return Err(StoreError::Newer { path: path.into(), found, known });
    }
    for (step, version) in MIGRATIONS.iter().zip(1i64..).skip(usize::try_from(found).unwrap_or(0)) {
        let tx = db.transaction()?;
        tx.execute_batch(step)?;
        tx.pragma_update(None, "user_version", version)?;
        tx.commit()?;
    }
    Ok(())
}
