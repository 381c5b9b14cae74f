//! Writing to standard output.

pub(super) use crate::terminal::{say, shown};
use protocol::error::{ErrorBody, ErrorCode};
use serde::Serialize;
use std::io::{ErrorKind, Write};

/// Writes text as it is. A reader that has gone away (`| head`) is no error.
pub(super) fn text(text: &str) -> Result<(), ErrorBody> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(ErrorBody::new(ErrorCode::Internal, format!("Standard output cannot be written: {e}.")))
        }
        _ => Ok(()),
    }
}

/// Writes a value as JSON, for people who look at it too.
pub(super) fn json(value: &impl Serialize) -> Result<(), ErrorBody> {
    let json = serde_json::to_string_pretty(value)
        .map_err(|e| ErrorBody::new(ErrorCode::Internal, format!("The result cannot be written as JSON: {e}.")))?;
    text(&(json + "\n"))
}
