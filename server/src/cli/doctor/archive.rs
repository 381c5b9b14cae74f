//! `doctor --archive`: the machine as a file to be sent to somebody.

use crate::cli::output::{self, shown};
use power::Root;
use power::archive::{self, Contents, Kind};
use protocol::error::{ErrorBody, ErrorCode};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What `doctor --archive FILE --json` prints.
#[derive(Debug, Serialize)]
struct Written<'a> {
    archive: &'a Path,
    files: usize,
    bytes: u64,
    truncated: bool,
    masked: BTreeMap<Kind, usize>,
    notes: Vec<String>,
}

/// Writes the archive, to a file that is not there yet, for its owner only.
pub(super) fn write(path: &Path, root: &Root, json: bool) -> Result<(), ErrorBody> {
    let refused = |e: &io::Error| {
        let path = path.display();
        if e.kind() == io::ErrorKind::AlreadyExists {
            let hint = "Name a file that does not exist yet.";
            return ErrorBody::new(ErrorCode::Usage, format!("The archive is not written: {path} is there already."))
                .hint(hint);
        }
        let code = if e.kind() == io::ErrorKind::PermissionDenied { ErrorCode::NotPermitted } else { ErrorCode::Usage };
        ErrorBody::new(code, format!("The archive {path} cannot be written: {e}."))
    };
    let file = File::options().write(true).create_new(true).mode(0o600).open(path).map_err(|e| refused(&e))?;
    let made_by = format!("brakecheck {}", protocol::VERSION);
    let contents = archive::write(root, &made_by, BufWriter::new(file)).map_err(|e| {
        // A part of an archive is none.
        let _ = fs::remove_file(path);
        refused(&e)
    })?;
    let notes = notes(&contents, root);
    if json {
        let Contents { files, bytes, masked, truncated } = contents;
        return output::json(&Written { archive: path, files, bytes, truncated, masked, notes });
    }
    output::text(&text(path, &contents, &notes))
}

fn notes(contents: &Contents, root: &Root) -> Vec<String> {
    let mut notes = Vec::new();
    if root.is_live() && !rustix::process::geteuid().is_root() {
        notes.push("Files that only root may read are not in it; with sudo they are.".into());
    }
    if contents.truncated {
        notes.push("It would have become too large: some files were left out.".into());
    }
    notes
}

fn text(path: &Path, contents: &Contents, notes: &[String]) -> String {
    let masked: Vec<_> = contents.masked.iter().map(|(kind, n)| format!("{n} {}", kind.words())).collect();
    let masked = if masked.is_empty() { "nothing".into() } else { masked.join(", ") };
    let path = shown(&path.display().to_string());
    let mut out = format!(
        "{path}: {} files. Masked: {masked}; ARCHIVE.txt in it says where.\nLook at it before you send it: tar -tzf {path}\nUnpacked, it is a tree for --sysroot.\n",
        contents.files
    );
    for note in notes {
        out += &[note.as_str(), "\n"].concat();
    }
    out
}
