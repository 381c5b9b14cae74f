//! Writing to standard output.

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

/// A path or name as a terminal may show it: control characters are escaped, so that a name with a line break stays
/// on its line and one with an escape sequence stays harmless.
pub(super) fn shown(name: &str) -> String {
    name.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn control_characters_are_escaped_and_nothing_else() {
        assert_eq!(shown("größe 漢字: 100%"), "größe 漢字: 100%");
        assert_eq!(shown("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
    }
}
