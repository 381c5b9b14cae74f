//! `brakecheck experiment export`: an experiment as a report, or what it recommends as a file to apply.

use super::Globals;
use super::experiment::find;
use super::output;
use crate::experiment;
use crate::report::{self, Format};
use crate::runner::Runner;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::Use;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Options of `experiment export`.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Its id, the beginning of it if that is unique, or `last`
    id: String,
    /// html, json, tuned, tlp, systemd, tmpfiles, cmdline, or script
    #[arg(long, default_value = "html")]
    format: Format,
    /// Whose recommendation: latency, throughput, or battery
    #[arg(long = "use", value_name = "USE", default_value = "latency", value_parser = purpose)]
    purpose: Use,
    /// Write it to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite that file if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

/// Runs the subcommand.
pub(super) fn run(args: &ExportArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let runner = Runner::open(globals)?;
    let file = experiment::export(&runner, &find(&runner, &args.id)?)?;
    let text = report::export(&file, args.format, args.purpose)?;
    let nothing = report::sets_nothing(args.format, &text);
    match &args.output {
        None => output::text(&text)?,
        // A file that is there looks as if it could be installed.
        Some(_) if nothing => {}
        Some(path) => save(path, &text, args.force)?,
    }
    if nothing {
        let (format, purpose) = (args.format, args.purpose.name());
        let message =
            format!("No change is recommended for {purpose} that {format} can make: there is nothing to apply.");
        return Err(ErrorBody::new(ErrorCode::NotFound, message)
            .hint("`brakecheck experiment show` says what is known of each setting."));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that is not there yet, unless one may be overwritten.
fn save(path: &Path, text: &str, force: bool) -> Result<(), ErrorBody> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|e| {
        let path = path.display();
        if e.kind() == std::io::ErrorKind::AlreadyExists {
            return ErrorBody::new(ErrorCode::Usage, format!("{path} exists already."))
                .hint("Choose another place with -o, or overwrite it with --force.");
        }
        ErrorBody::new(ErrorCode::Usage, format!("{path} cannot be written: {e}."))
            .hint("Choose another place with -o.")
    })
}

/// A use by its name.
fn purpose(name: &str) -> Result<Use, String> {
    let names = Use::ALL.map(Use::name).join(", ");
    let known = Use::ALL.into_iter().find(|u| u.name() == name);
    known.ok_or_else(|| format!("there is no use `{name}`; there are {names}"))
}
