//! `brakecheck results`: what was measured before.

use super::Globals;
use super::measure::{self, Format, default_format};
use super::output::{self, shown};
use super::table::{Table, number, whole};
use crate::runner::Runner;
use clap::Subcommand;
use protocol::api::RunExport;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::run::{RunRecord, RunState, RunSummary};
use serde_json::json;
use std::process::ExitCode;

/// Options of `results`.
#[derive(Debug, clap::Args)]
pub struct ResultsArgs {
    /// What to do; `list` when absent.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// All runs, newest first
    List,
    /// One run as it was printed when it ended
    Show {
        /// Id of the run, its beginning if that is unique, or `last`
        id: String,
        /// Form of the result [default: table, or json with --json]
        #[arg(long, value_enum, value_name = "FORMAT")]
        output_format: Option<Format>,
    },
    /// Everything that is stored of one run, samples too, as JSON
    Export {
        /// Id of the run, its beginning if that is unique, or `last`
        id: String,
    },
    /// Remove a run
    Delete {
        /// Id of the run, or its beginning if that is unique
        id: String,
    },
}

/// Runs the subcommand.
pub fn run(args: &ResultsArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let runner = Runner::open(globals)?;
    match args.command.as_ref().unwrap_or(&Command::List) {
        Command::List => list(&runner.store().list()?, globals)?,
        Command::Show { id, output_format } => {
            let format = output_format.unwrap_or_else(|| default_format(globals));
            let record = find(&runner, id)?;
            measure::print(&record, format, &runner)?;
            if format == Format::Table {
                output::text(&unfinished(&record, &runner)?)?;
            }
        }
        Command::Export { id } => {
            let record = find(&runner, id)?;
            let samples = runner.store().samples(&record.id, None)?;
            output::json(&RunExport { cells: record.cells(), record, samples })?;
        }
        Command::Delete { id } => {
            let record = find(&runner, id)?;
            if !record.state.ended() {
                let message = format!("Run {} is {}.", record.id, record.state.name());
                return Err(ErrorBody::new(ErrorCode::Busy, message).hint("Stop it first."));
            }
            runner.store().delete(&record.id)?;
            if globals.json {
                output::json(&json!({ "deleted": record.id }))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is kept of a step that was on when the program died: its samples.
fn unfinished(record: &RunRecord, runner: &Runner) -> Result<String, ErrorBody> {
    if record.state != RunState::Interrupted {
        return Ok(String::new());
    }
    let ended = |step: u32| record.results.iter().any(|r| r.step == step);
    let samples = runner.store().samples(&record.id, None)?;
    let ms: f64 = samples.iter().filter(|s| !ended(s.step)).map(|s| s.dt_ms).sum();
    let export = format!("brakecheck results export {}", record.id);
    Ok(format!("Of the step that was on, samples of {:.1} s are kept: `{export}` shows them.\n", ms / 1e3))
}

/// The run of this id, of the only id that begins so, or the last one.
fn find(runner: &Runner, id: &str) -> Result<RunRecord, ErrorBody> {
    let runs = runner.store().list()?;
    let exact = runs.iter().find(|r| r.id == id || id == "last");
    let mut alike = runs.iter().filter(|r| !id.is_empty() && r.id.starts_with(id));
    let found = match (exact, alike.next(), alike.next()) {
        (Some(run), ..) | (None, Some(run), None) => run,
        (None, Some(_), Some(_)) => {
            return Err(ErrorBody::new(ErrorCode::Usage, format!("More than one run begins with `{}`.", shown(id))));
        }
        (None, None, _) => {
            let error = ErrorBody::new(ErrorCode::NotFound, format!("There is no run `{}`.", shown(id)));
            return Err(error.hint("`brakecheck results` lists all runs."));
        }
    };
    Ok(runner.store().get(&found.id)?)
}

fn list(runs: &[RunSummary], globals: &Globals) -> Result<(), ErrorBody> {
    if globals.json {
        return output::json(&runs);
    }
    if runs.is_empty() {
        return output::text("Nothing has been measured yet.\n");
    }
    let mut table =
        Table::new(&["id", "state", "what", "target", "drive", "MB/s", "IOPS", "of"]).words(&[1, 2, 3, 4, 7]);
    for run in runs {
        let (mb, iops, of) = match &run.headline {
            Some(h) => {
                let warning = h.not_comparable.as_ref().map(|w| format!(" ({w})")).unwrap_or_default();
                (number(h.bw.mb()), whole(h.iops.0), format!("{}{warning}", shown(&h.label)))
            }
            None => ("-".into(), "-".into(), String::new()),
        };
        let drive = run.drive.as_deref().map(shown).unwrap_or_default();
        table.row([
            run.id.clone(),
            run.state.name().into(),
            shown(&run.title),
            shown(&run.target),
            drive,
            mb,
            iops,
            of,
        ]);
    }
    output::text(&table.render())
}
