//! What `bench` and `preset` share: run a request in this process, show progress, print the result.

use super::progress::Progress;
use super::signals::stop_on_signals;
use super::{Globals, fio_json, output, report};
use crate::runner::{self, Runner};
use engine::Control;
use protocol::api::{RunDetail, RunRequest};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::run::{RunRecord, RunState};
use std::process::ExitCode;

/// Form of the result on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// The whole record of the run
    Json,
    /// What fio writes with --output-format=json, for programs that read that
    FioJson,
}

/// Options of every subcommand that measures.
#[derive(Debug, Clone, clap::Args)]
pub struct MeasureArgs {
    /// Form of the result on standard output [default: table, or json with --json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub output_format: Option<Format>,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
    /// Leave the laid-out file for the next run in the same directory
    #[arg(long)]
    pub keep_file: bool,
}

/// The record with the preset's grid worked out, as the API gives it.
fn detail(record: &RunRecord) -> RunDetail {
    RunDetail { record: record.clone(), cells: record.cells() }
}

/// Runs the request to its end. Whatever was measured is printed, also after an error or a signal.
pub(super) fn run(request: &RunRequest, args: &MeasureArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let spec = runner::plan(&RunRequest { target: absolute(&request.target), ..request.clone() })?;
    let runner = Runner::open(globals)?;
    let control = Control::default();
    stop_on_signals(&control)?;
    let mut progress = Progress::new(args.quiet);
    let run = runner.run(spec, &control, |event| progress.event(&event));
    // The command line has no queue.
    let record =
        run.map_err(|e| if e.code == ErrorCode::Busy { e.hint("Start again when that run has ended.") } else { e })?;
    drop(progress);
    print(&record, args.output_format.unwrap_or(default_format(globals)), &runner)?;
    Ok(exit_code(&record))
}

/// The target as it is called from any directory: results are looked at from elsewhere.
pub(super) fn absolute(target: &str) -> String {
    // An empty path has no absolute form; the plan says what is wrong with it.
    let path = std::path::absolute(target).ok();
    path.and_then(|p| p.to_str().map(Into::into)).unwrap_or_else(|| target.to_owned())
}

/// Table for people, JSON where that was asked for.
pub(super) fn default_format(globals: &Globals) -> Format {
    if globals.json { Format::Json } else { Format::Table }
}

/// Prints a stored run.
pub(super) fn print(record: &RunRecord, format: Format, runner: &Runner) -> Result<(), ErrorBody> {
    match format {
        Format::Table => output::text(&report::text(record)),
        Format::Json => output::json(&detail(record)),
        Format::FioJson => output::json(&fio_json::report(record, |step| {
            // The statistics over time are left at zero where samples were not stored.
            runner.store().samples(&record.id, Some(step)).unwrap_or_default()
        })),
    }
}

/// The result has been printed; what is left to say of a run that did not end by itself goes to standard error.
fn exit_code(record: &RunRecord) -> ExitCode {
    let code = match record.state {
        RunState::Done => return ExitCode::SUCCESS,
        RunState::Failed => record.error.as_ref().map_or(ErrorCode::RunFailed, |e| e.code),
        _ => ErrorCode::Interrupted,
    };
    if let Some(error) = &record.error {
        super::say(error);
    }
    ExitCode::from(code.exit_code())
}
