//! `brakecheck preset`: a named list of workloads, scored in the manner of a known tool.

use super::measure::{self, MeasureArgs};
use super::table::Table;
use super::{Globals, output};
use clap::value_parser;
use protocol::api::RunRequest;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::preset::{Column, PRESETS};
use protocol::units::{Bytes, Seconds};
use protocol::workload::Wait;
use std::process::ExitCode;

/// Options of `preset`.
#[derive(Debug, clap::Args)]
pub struct PresetArgs {
    /// Which; without a name all are listed
    name: Option<String>,
    /// A directory, in which a file of our own is laid out and removed; or an existing file or device, which is only
    /// ever read
    #[arg(long, visible_alias = "filename", value_name = "PATH")]
    target: Option<String>,
    /// File size instead of the preset's
    #[arg(long, value_name = "SIZE")]
    size: Option<Bytes>,
    /// Time of each pass instead of the preset's
    #[arg(long, value_name = "TIME")]
    runtime: Option<Seconds>,
    /// Scored passes of each test instead of the preset's
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100))]
    repetitions: Option<u32>,
    /// Columns to run: read,write,mix
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = column)]
    columns: Option<Vec<Column>>,
    /// Pause between tests instead of the preset's
    #[arg(long, value_name = "TIME")]
    pause: Option<Seconds>,
    /// How the worker waits: enter, enter-no-iowait, epoll or poll
    #[arg(long, value_name = "MODE")]
    wait: Option<Wait>,
    /// Through the page cache rather than O_DIRECT
    #[arg(long)]
    buffered: bool,
    #[command(flatten)]
    measure: MeasureArgs,
}

fn column(text: &str) -> Result<Column, String> {
    let known = || Column::ALL.map(Column::name).join(", ");
    Column::ALL.into_iter().find(|c| c.name() == text).ok_or_else(|| format!("known are {}", known()))
}

/// Runs the subcommand.
pub fn run(args: &PresetArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let Some(name) = &args.name else { return list(globals) };
    let mut request = RunRequest {
        target: args.target.clone().unwrap_or_else(|| ".".into()),
        preset: Some(name.clone()),
        repetitions: args.repetitions,
        size: args.size,
        runtime: args.runtime,
        pause: args.pause,
        columns: args.columns.clone(),
        wait: args.wait,
        buffered: args.buffered,
        keep_file: args.measure.keep_file,
        ..RunRequest::default()
    };
    // A wrong name is said before a missing target.
    request.plan()?;
    let target = args.target.clone().ok_or_else(|| {
        ErrorBody::new(ErrorCode::Usage, format!("Preset {name} needs a target."))
            .hint("Name a directory, a file or a block device with --target.")
    })?;
    request.target = target;
    measure::run(&request, &args.measure, globals)
}

fn list(globals: &Globals) -> Result<ExitCode, ErrorBody> {
    if globals.json {
        output::json(&PRESETS)?;
    } else {
        let mut table = Table::default().words(&[1, 2]);
        for preset in &PRESETS {
            table.row([preset.name, preset.title, preset.description]);
        }
        output::text(&table.render())?;
    }
    Ok(ExitCode::SUCCESS)
}
