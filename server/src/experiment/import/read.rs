//! From bytes to a document of the right types, or to words that say where it is not one.

use super::shape;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{Effect, ExperimentRecord, Trial};
use protocol::run::RunState;
use serde::Deserialize;
use serde_json::error::Category;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Longest file in bytes: 64 MiB hold about 40,000 trials.
pub const MOST_BYTES: usize = 64 << 20;

/// What is read of an [`protocol::experiment::ExperimentFile`]: what was measured, and of what it concludes enough to
/// tell where this program concludes otherwise.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    pub(super) experiment: ExperimentRecord,
    pub(super) state: RunState,
    #[serde(default)]
    pub(super) finished_at: Option<String>,
    #[serde(default)]
    pub(super) error: Option<ErrorBody>,
    pub(super) trials: Vec<Trial>,
    #[serde(default)]
    pub(super) effects: Vec<Effect>,
}

/// The one thing that has to be known before the rest can be understood.
#[derive(Debug, Deserialize)]
struct Head {
    format: Option<u32>,
    experiment: Option<HeadOfRecord>,
}

#[derive(Debug, Deserialize)]
struct HeadOfRecord {
    format: Option<u32>,
}

/// A file's bytes, `-` for standard input. One that is too long is refused by its length.
pub(crate) fn file(path: &Path) -> Result<Vec<u8>, ErrorBody> {
    let failed = |e: io::Error| usage(format!("{} cannot be read: {e}.", path.display()));
    if path == Path::new("-") {
        return bytes(io::stdin().lock(), None);
    }
    let file = File::open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if meta.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    bytes(file, meta.is_file().then_some(meta.len()))
}

/// All bytes of a reader, of which no more are read than are needed to know that there are too many. `length` is what is
/// known of their number before.
fn bytes(reader: impl Read, length: Option<u64>) -> Result<Vec<u8>, ErrorBody> {
    if length.is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    let read = reader.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|e| usage(format!("The file cannot be read: {e}.")))?;
    if bytes.len() > MOST_BYTES { Err(too_long(None)) } else { Ok(bytes) }
}

/// A file beyond [`MOST_BYTES`].
pub(crate) fn too_long(length: Option<u64>) -> ErrorBody {
    let most = MOST_BYTES >> 20;
    let message = match length {
        Some(length) => format!("The file has {} MiB; an experiment of at most {most} MiB is read.", length >> 20),
        None => format!("The file has more than {most} MiB; an experiment of at most {most} MiB is read."),
    };
    usage(message)
}

/// Reads a document of this format or an older one.
pub(super) fn document(json: &[u8]) -> Result<Document, ErrorBody> {
    match json.trim_ascii_start().first() {
        None => return Err(usage("The file is empty.").hint(HINT)),
        Some(b'{') => {}
        Some(_) => return Err(usage("The file is no experiment: it does not begin with `{`.").hint(HINT)),
    }
    shape::check(json).map_err(|e| refused(&e, None))?;
    let head: Head = typed(json)?;
    let formats = [head.format, head.experiment.and_then(|e| e.format)];
    protocol::experiment::outcome::check_format(formats.into_iter().flatten().max().unwrap_or_default())?;
    typed(json)
}

/// Its bytes are known to be sound JSON.
fn typed<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, ErrorBody> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|e| {
        // The key of a map of metrics is not told.
        let path = e.path().to_string().replace(".?", "");
        refused(e.inner(), (path != "." && path != "?").then_some(path))
    })
}

fn refused(e: &serde_json::Error, path: Option<String>) -> ErrorBody {
    let place = path.map(|path| path + ": ").unwrap_or_default();
    let message = match e.classify() {
        Category::Eof => format!(
            "The file is truncated: it ends in the middle of the experiment, at line {} column {}.",
            e.line(),
            e.column()
        ),
        Category::Data => format!("The file is no experiment: {place}{e}."),
        Category::Syntax | Category::Io => format!("The file is not JSON: {e}."),
    };
    usage(message).hint(HINT)
}

const HINT: &str = "`brakecheck experiment show ID --json` writes such a file.";

pub(super) fn usage(message: impl Into<String>) -> ErrorBody {
    ErrorBody::new(ErrorCode::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of nothing but `filler`, after a valid beginning, made as they are read.
    fn endless(start: &'static str, filler: u8) -> impl Read {
        start.as_bytes().chain(io::repeat(filler).take(200_000_000))
    }

    #[test]
    fn too_long_a_file_is_refused_by_its_length_and_while_it_is_read() {
        let known = bytes(io::empty(), Some(200_000_000)).unwrap_err();
        assert_eq!(known.message, "The file has 190 MiB; an experiment of at most 64 MiB is read.");
        for (start, filler) in [("", 0), ("", b' '), ("{\"experiment\":{\"id\":\"", b'x'), ("{\"trials\":[", b'[')] {
            let error = bytes(endless(start, filler), None).unwrap_err();
            assert!(error.message.contains("more than 64 MiB"), "{error}");
        }
    }

    #[test]
    fn what_is_no_experiment_says_so() {
        let cases: [(&[u8], &str); 9] = [
            (b"", "The file is empty."),
            (b"  \n", "The file is empty."),
            (b"\0\0\0", "does not begin with `{`"),
            (b"[]", "does not begin with `{`"),
            (b"{", "truncated: it ends in the middle of the experiment, at line 1 column 1"),
            (b"{\"state\" \"done\"}", "The file is not JSON: expected `:` at line 1 column 10"),
            (b"{\"id\":\"x\"}", "missing field `experiment`"),
            (b"{\"format\":2}", "of version 2; this program reads up to version 1"),
            (b"{\"experiment\":{\"format\":7}}", "of version 7"),
        ];
        for (json, words) in cases {
            let error = document(json).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }
        assert!(document(b"{\"format\":\"1\"}").unwrap_err().message.contains("format: invalid type: string"));
        assert!(document(b"{\"a\":\"\xff\"}").is_err());
    }
}
