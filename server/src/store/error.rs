//! Errors of the store.

use protocol::error::{ErrorBody, ErrorCode};
use std::path::PathBuf;

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// `SQLite` reported an error.
    #[error("The result store failed: {0}.")]
    Sqlite(#[from] rusqlite::Error),
    /// A stored document is not what this version writes or reads.
    #[error("A stored {what} cannot be read: {source}.")]
    Document {
        /// Which document.
        what: &'static str,
        /// Where reading it failed.
        source: serde_json::Error,
    },
    /// The database was made by a newer version of the program.
    #[error("{path} was written by a newer version (format {found}; this program knows up to {known}).")]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format this program knows.
        known: i64,
    },
    /// No run has this id.
    #[error("There is no run {0}.")]
    NotFound(String),
    /// No experiment has this id.
    #[error("There is no experiment {0}.")]
    NoExperiment(String),
    /// An experiment that a newer version began.
    #[error("{0}")]
    NewerExperiment(ErrorBody),
    /// The database file could not be opened or moved.
    #[error("{path}: {source}.")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl StoreError {
    /// Whether the database file itself is damaged.
    pub(super) fn is_corruption(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        matches!(self, Self::Sqlite(e) if matches!(e.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase)))
    }
}

impl From<StoreError> for ErrorBody {
    fn from(e: StoreError) -> Self {
        let message = e.to_string();
        match e {
            StoreError::NewerExperiment(body) => body,
            StoreError::NotFound(_) => {
                Self::new(ErrorCode::NotFound, message).hint("`brakecheck results` lists the runs that are stored.")
            }
            StoreError::NoExperiment(_) => Self::new(ErrorCode::NotFound, message)
                .hint("`brakecheck experiment list` lists the experiments that are stored."),
            StoreError::Newer { .. } => {
                Self::new(ErrorCode::Usage, message).hint("Use that version, or another directory with --state-dir.")
            }
            StoreError::Document { .. } => Self::new(ErrorCode::Internal, message),
            StoreError::Sqlite(_) | StoreError::Io { .. } => Self::new(ErrorCode::Internal, message)
                .hint("Check that the state directory can be written and has free space, or name another one with --state-dir."),
        }
    }
}
