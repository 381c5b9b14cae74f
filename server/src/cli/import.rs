//! `brakecheck experiment import`: an experiment of another host, kept beside one's own.

use super::Globals;
use super::output::{self, shown};
use crate::experiment::import::{file, import};
use crate::runner::Runner;
use protocol::error::ErrorBody;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Stores what `path` holds, `-` for standard input.
pub(super) fn run(path: &Path, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let json = file(path)?;
    let imported = import(&Runner::open(globals)?, &json)?;
    if globals.json {
        output::json(&imported)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = if imported.known {
        format!("Experiment {} was here already.\n", imported.id)
    } else {
        format!("Experiment {0}: `brakecheck experiment show {0}` shows it.\n", imported.id)
    };
    for note in &imported.notes {
        let _ = writeln!(text, "{}", shown(note));
    }
    output::text(&text)?;
    Ok(ExitCode::SUCCESS)
}
