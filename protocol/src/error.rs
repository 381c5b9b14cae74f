//! Errors as users and scripts meet them: a stable code, a sentence, and what to do.

use serde::{Deserialize, Serialize};

/// What kind of error it is. Each has one exit code and one HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ErrorCode {
    /// A fault of the program itself.
    Internal,
    /// The request or command line is wrong in itself.
    Usage,
    /// The target cannot or may not be measured this way.
    TargetRefused,
    /// Some setting could not be put back.
    RestoreIncomplete,
    /// The caller lacks the right (root, operator).
    NotPermitted,
    /// An I/O error or a lost device ended the run.
    RunFailed,
    /// Stopped by the user or a signal.
    Interrupted,
    /// Somebody else's run is on; ask to queue, or wait.
    Busy,
    /// No such run, page or route.
    NotFound,
    /// The request named a host or origin that is not allowed here.
    ForbiddenHost,
    /// No token or cookie, or not a valid one.
    Unauthorized,
    /// No viewers' password, or not the right one, or too many wrong ones.
    Password,
}

impl ErrorCode {
    /// The exit code of the command line.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Usage | Self::NotFound => 2,
            Self::TargetRefused => 3,
            Self::RestoreIncomplete => 4,
            Self::NotPermitted | Self::ForbiddenHost | Self::Unauthorized | Self::Password => 5,
            Self::RunFailed | Self::Busy => 6,
            Self::Interrupted => 130,
        }
    }

    /// The HTTP status of an answer that carries it.
    pub fn http_status(self) -> u16 {
        match self {
            Self::Internal | Self::RestoreIncomplete | Self::RunFailed | Self::Interrupted => 500,
            Self::Usage => 400,
            Self::TargetRefused => 422,
            Self::NotPermitted | Self::ForbiddenHost => 403,
            Self::Busy => 409,
            Self::NotFound => 404,
            Self::Unauthorized | Self::Password => 401,
        }
    }
}

/// One error, in words. Also the body of every HTTP error answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[error("{message}")]
pub struct ErrorBody {
    /// For scripts.
    pub code: ErrorCode,
    /// What happened and why: "Cannot write here: /mnt/ssd is mounted read-only."
    pub message: String,
    /// What to do: "Choose another directory, or measure the drive read-only."
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ErrorBody {
    /// An error without advice.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }
    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
