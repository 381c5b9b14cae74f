//! Results in one `SQLite` file.
//!
//! The store may lie on the drive under test, so it must not disturb it: the write-ahead log is appended to without
//! being synced, and is moved into the database (the only time that syncs) when no run is on. Samples are written in
//! batches, each one transaction, so that a process killed in the middle of a run loses at most the last batch.
//!
//! Invariants: a run's row exists before its results and samples; a row's `record` never changes after the run began,
//! what changes has columns of its own; the schema's version is `user_version`, and a database of a newer version is
//! left alone.

mod error;
mod experiments;
mod imported;
mod open;
mod runs;
mod samples;
mod schema;

pub use error::StoreError;
pub use experiments::Stored;
pub use open::{Opened, open};
pub use runs::Living;

use rusqlite::Connection;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An open result store; shared by reference between threads.
#[derive(Debug)]
pub struct Store(Mutex<Connection>);

impl Store {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic elsewhere leaves at most an open transaction, which its guard has rolled back.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the write-ahead log into the database. Syncs, so only to be called while no run is on.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
