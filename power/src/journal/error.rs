//! Why a journal cannot be kept.

use protocol::error::{ErrorBody, ErrorCode};
use rustix::io::Errno;
use std::path::PathBuf;

/// Without a journal nothing is set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Another process has this journal.
    #[error("another Brakecheck (process {pid}) has this machine's settings in hand")]
    Busy {
        /// Its number; 0 if it has not said yet.
        pid: u32,
    },
    /// Another process has this host's settings, with a journal elsewhere.
    #[error(
        "another Brakecheck (process {pid}) has this machine's settings in hand, with a state directory of its own"
    )]
    Held {
        /// Its number; 0 if it has not said.
        pid: u32,
    },
    /// The directory is not safe to keep it in.
    #[error("the journal of settings cannot be kept in {}: {why}", dir.display())]
    Unsafe {
        /// Which directory.
        dir: PathBuf,
        /// In words.
        why: &'static str,
    },
    /// The disk is full; nothing was set.
    #[error("nothing was set: no room left for the journal in {}", dir.display())]
    Full {
        /// Which directory.
        dir: PathBuf,
    },
    /// An access failed; nothing was set.
    #[error("cannot {action} the journal of settings in {}: {errno}", dir.display())]
    Io {
        /// Which directory.
        dir: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// The kernel's answer.
        errno: Errno,
    },
    /// The settings are changed, and written down in another directory.
    #[error(
        "settings of this host are recorded in {}: `brakecheck --state-dir {} restore` puts them back",
        state.display(), state.display()
    )]
    Elsewhere {
        /// The state directory with that record.
        state: PathBuf,
    },
    /// Somebody has removed the directory; nothing was set.
    #[error("nothing was set: the directory of the journal, {}, was removed", dir.display())]
    Gone {
        /// Which directory.
        dir: PathBuf,
    },
    /// The file is of a later version, or of another tree.
    #[error("the journal of settings in {} is not one that this program can use: {why}", dir.display())]
    Strange {
        /// Which directory.
        dir: PathBuf,
        /// In words.
        why: String,
    },
}

impl From<JournalError> for ErrorBody {
    fn from(error: JournalError) -> Self {
        let (code, hint) = match &error {
            JournalError::Busy { .. } => (ErrorCode::Busy, "Ask it, or stop it first."),
            JournalError::Held { .. } => (ErrorCode::Busy, "Name that directory with --state-dir, or stop it first."),
            JournalError::Elsewhere { .. } => (ErrorCode::Busy, "Run that, or use that --state-dir."),
            JournalError::Gone { .. } => (ErrorCode::RunFailed, "Start Brakecheck again."),
            JournalError::Unsafe { .. } => (ErrorCode::NotPermitted, "Choose another --state-dir."),
            JournalError::Full { .. } => (ErrorCode::RunFailed, "Free some space, or choose another --state-dir."),
            JournalError::Io { errno: Errno::ROFS | Errno::ACCESS | Errno::PERM, .. } => {
                (ErrorCode::NotPermitted, "Choose another --state-dir.")
            }
            JournalError::Io { .. } => (ErrorCode::RunFailed, "Check the disk that holds --state-dir."),
            JournalError::Strange { .. } => {
                (ErrorCode::Internal, "Use the program that wrote it to restore, or reboot; then remove the file.")
            }
        };
        Self::new(code, error.to_string()).hint(hint)
    }
}
