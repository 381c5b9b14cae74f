//! TOML as people write it: what is wrong is said with its line.

use crate::plain::plain;
use protocol::error::{ErrorBody, ErrorCode};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Longest file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// The text of a file that may be absent.
pub fn text_if_any(path: &Path) -> Result<Option<String>, ErrorBody> {
    let cannot = |e: &dyn std::fmt::Display| {
        ErrorBody::new(ErrorCode::Usage, format!("{} cannot be read: {e}.", path.display()))
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(cannot(&e)),
    };
    let mut text = String::new();
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(|e| cannot(&e))?;
    if text.len() as u64 > LONGEST { Err(cannot(&"it is longer than 1 MiB")) } else { Ok(Some(text)) }
}

/// The text of a file.
pub fn text(path: &Path) -> Result<String, ErrorBody> {
    text_if_any(path)?.ok_or_else(|| {
        ErrorBody::new(ErrorCode::Usage, format!("{} cannot be read: there is no such file.", path.display()))
    })
}

/// Reads TOML, or says on which line it cannot be read and why.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|e| {
        // What is wrong with a table as a whole has the place of its beginning.
        let line = e.span().filter(|s| s.start > 0).and_then(|s| text.get(..s.start));
        let line = line.map(|before| format!("line {}: ", before.matches('\n').count() + 1));
        format!("{}{}", line.unwrap_or_default(), plain(e.message()))
    })
}
