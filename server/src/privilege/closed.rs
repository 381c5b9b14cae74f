//! Whether the user that the server has become reaches the state directory.

use super::user::User;
use protocol::error::{ErrorBody, ErrorCode};
use rustix::fs::{Access, access};
use std::path::Path;

/// Names the directory that is in the way, if one is.
pub(super) fn refuse(state: &Path, user: &User) -> Result<(), ErrorBody> {
    let mut ancestors: Vec<&Path> = state.ancestors().skip(1).collect();
    ancestors.reverse();
    let closed = ancestors.into_iter().find(|dir| access(*dir, Access::EXEC_OK).is_err());
    let why = match closed {
        Some(dir) => format!("{} is closed to other users", dir.display()),
        None => match access(state, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => return Ok(()),
            Err(e) => e.to_string(),
        },
    };
    let what =
        format!("The server runs as {}, who cannot use the state directory {}: {why}.", user.name, state.display());
    Err(ErrorBody::new(ErrorCode::NotPermitted, what)
        .hint("Name another directory with --state-dir, or another user with --user."))
}
