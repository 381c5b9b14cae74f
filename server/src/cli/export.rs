//! `brakecheck experiment export`: an experiment as a report, or what it recommends as a file to apply.

use super::Globals;
use super::experiment::find;
use super::output;
use crate::experiment;
use crate::report::{self, Format};
use crate::runner::Runner;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::Use;
use std::path::PathBuf;
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
}

/// Runs the subcommand.
pub(super) fn run(args: &ExportArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let runner = Runner::open(globals)?;
    let file = experiment::export(&runner, &find(&runner, &args.id)?)?;
    let text = report::export(&file, args.format, args.purpose)?;
    match &args.output {
        None => output::text(&text)?,
        Some(path) => std::fs::write(path, text).map_err(|e| {
            ErrorBody::new(ErrorCode::Usage, format!("{} cannot be written: {e}.", path.display()))
                .hint("Choose another place with -o.")
        })?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A use by its name.
fn purpose(name: &str) -> Result<Use, String> {
    let names = Use::ALL.map(Use::name).join(", ");
    let known = Use::ALL.into_iter().find(|u| u.name() == name);
    known.ok_or_else(|| format!("there is no use `{name}`; there are {names}"))
}
