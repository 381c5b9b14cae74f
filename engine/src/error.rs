//! Errors of the engine, kept apart by who can mend them.

use protocol::error::{ErrorBody, ErrorCode};

/// Why a run could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The target cannot or may not be measured this way, or the run failed: in words for the user.
    #[error("{0}")]
    Expected(ErrorBody),
    /// The operating system refused something that should have worked.
    #[error("{what}: {source}")]
    Io {
        /// What was being done, with the path.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl EngineError {
    /// As the user and scripts see it.
    pub fn body(&self) -> ErrorBody {
        match self {
            Self::Expected(body) => body.clone(),
            Self::Io { .. } => ErrorBody::new(ErrorCode::RunFailed, self.to_string()),
        }
    }
}
