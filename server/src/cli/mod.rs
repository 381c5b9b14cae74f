//! The command line. Each subcommand has a file with its options and `run`.

pub mod bench;
pub mod check;
mod compare;
pub mod doctor;
pub mod experiment;
pub mod export;
mod findings;
mod fio_json;
mod helpers;
mod import;
mod journal;
pub mod kiosk;
pub mod knobs;
pub mod measure;
mod output;
pub mod preset;
mod progress;
mod report;
pub mod restore;
pub mod results;
#[cfg(test)]
mod sample_run;
pub mod serve;
mod signals;
mod table;
mod trials;

use crate::state_dir::StateDir;
use clap::{Args, Parser, Subcommand};
use power::Root;
use protocol::error::{ErrorBody, ErrorCode};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Finds the settings that make an SSD run with the brakes on.
///
/// Exit codes: 0 done, 1 internal, 2 usage, 3 target refused, 4 restore incomplete, 5 not permitted, 6 run failed,
/// 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "brakecheck", version, about, max_term_width = 100)]
pub struct Cli {
    /// Options that every subcommand takes.
    #[command(flatten)]
    pub globals: Globals,
    /// What to do; `serve` when absent.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options that every subcommand takes.
#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// Directory of results and of our own files' registry [default: /var/lib/brakecheck as root, else
    /// brakecheck under XDG_STATE_HOME or ~/.local/state]
    #[arg(long, global = true, help_heading = "Global options", value_name = "DIR", env = "BRAKECHECK_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Read the host's settings under DIR instead of /; the target is not affected
    #[arg(long, global = true, help_heading = "Global options", value_name = "DIR", default_value = "/")]
    pub sysroot: PathBuf,
    /// Results and errors as JSON on standard output
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
}

impl Globals {
    /// Opens the state directory, making it if absent.
    pub fn state(&self) -> Result<StateDir, ErrorBody> {
        StateDir::open(self.state_path()?)
    }

    /// Where the state directory is or will be.
    pub fn state_path(&self) -> Result<PathBuf, ErrorBody> {
        self.state_dir.clone().map_or_else(StateDir::default_path, Ok)
    }

    /// Where the host's settings are.
    pub fn root(&self) -> Result<Root, ErrorBody> {
        Root::new(&self.sysroot).map_err(|e| {
            let path = self.sysroot.display();
            ErrorBody::new(ErrorCode::Usage, format!("--sysroot {path} cannot be used: {e}."))
        })
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the page and the API on this machine
    ///
    /// Prints the page's address, with the token in it, on standard output. A port that is in use and a state directory
    /// that another server uses are usage errors (2). Ctrl-C or SIGTERM stops the run and ends in order (0); a second
    /// one ends at once (130).
    Serve(serve::ServeArgs),
    /// Run one workload, with fio's option names
    Bench(bench::BenchArgs),
    /// Run a named list of workloads, scored in the manner of a known tool
    Preset(preset::PresetArgs),
    /// Find out whether a drive runs with the brakes on, and which setting it is
    ///
    /// Switches each power-saving setting that can matter for the drive off and on while it measures, in random order,
    /// until it is clear what each one costs; puts every setting back.
    Check(check::CheckArgs),
    /// Run, show and resume experiments of your own design
    Experiment(experiment::ExperimentArgs),
    /// List, show, export and delete stored results
    Results(results::ResultsArgs),
    /// Show host, kernel, io_uring features, the target's drive, and what limits the tool here
    Doctor(doctor::DoctorArgs),
    /// Show the kiosk page, full screen, on this machine's own display
    ///
    /// Waits until the server answers, and ends with the browser. What a screen shows besides: `[kiosk]` in the server's
    /// configuration file.
    Kiosk(kiosk::KioskArgs),
    /// List the host's settings and what each can be set to; `knobs set` sets some
    Knobs(knobs::KnobsArgs),
    /// Put back every setting that Brakecheck has changed
    ///
    /// An experiment that runs on a server's settings ends with the trial that is on; `experiment resume` goes on with it.
    Restore(restore::RestoreArgs),
    /// The process that changes settings for a server; started by it
    #[command(hide = true)]
    Broker,
    /// The process that puts settings back when a broker has died; started by it
    #[command(hide = true)]
    Sentinel,
}

/// Reads the command line and runs it; errors go to standard error as a sentence and what to do about it, with
/// `--json` to standard output too.
pub fn main() -> ExitCode {
    let (command, globals) = match parsed() {
        Ok(parsed) => parsed,
        Err(e) => return usage(&e),
    };
    start_log();
    crate::limits::raise_open_files();
    match run(command, &globals) {
        Ok(code) => code,
        Err(error) => {
            refuse(&error, globals.json);
            ExitCode::from(error.code.exit_code())
        }
    }
}

fn parsed() -> Result<(Command, Globals), clap::Error> {
    let cli = Cli::try_parse()?;
    let command = cli.command.map_or_else(|| serve::ServeArgs::unsaid().map(Command::Serve), Ok)?;
    Ok((command, cli.globals))
}

fn run(command: Command, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    match command {
        Command::Serve(args) => serve::run(args, globals).map(|()| ExitCode::SUCCESS),
        Command::Bench(args) => bench::run(&args, globals),
        Command::Preset(args) => preset::run(&args, globals),
        Command::Check(args) => check::run(&args, globals),
        Command::Experiment(args) => experiment::run(&args, globals),
        Command::Results(args) => results::run(&args, globals),
        Command::Doctor(args) => doctor::run(&args, globals),
        Command::Kiosk(args) => kiosk::run(&args, globals).map(|()| ExitCode::SUCCESS),
        Command::Knobs(args) => knobs::run(&args, globals),
        Command::Restore(args) => restore::run(&args, globals),
        Command::Broker => helpers::broker(globals).map(|()| ExitCode::SUCCESS),
        Command::Sentinel => helpers::sentinel(globals).map(|()| ExitCode::SUCCESS),
    }
}

/// clap's own report, and JSON beside it where that was asked for. Help and version are no errors.
fn usage(e: &clap::Error) -> ExitCode {
    // Nothing sensible is left to do when standard error is closed.
    let _ = e.print();
    if !e.use_stderr() {
        return ExitCode::SUCCESS;
    }
    if std::env::args_os().any(|a| a == "--json") {
        print_json(&in_json(&e.to_string()));
    }
    ExitCode::from(ErrorCode::Usage.exit_code())
}

/// clap's report as one error: its first paragraph, which may be a list of what is missing, and its tip.
fn in_json(text: &str) -> ErrorBody {
    let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
    let message = lines.collect::<Vec<_>>().join(" ");
    let error = ErrorBody::new(ErrorCode::Usage, message.trim_start_matches("error: "));
    match text.lines().find_map(|line| line.trim().strip_prefix("tip: ")) {
        Some(tip) => error.hint(tip),
        None => error,
    }
}

/// An error as a sentence and what to do about it.
fn say(error: &ErrorBody) {
    eprintln!("{}", output::shown(&error.message));
    if let Some(hint) = &error.hint {
        eprintln!("{}", output::shown(hint));
    }
}

fn refuse(error: &ErrorBody, json: bool) {
    say(error);
    if json {
        print_json(error);
    }
}

fn print_json(error: &ErrorBody) {
    println!("{}", serde_json::json!({ "error": error }));
}

/// Warnings on standard error; `BRAKECHECK_LOG=debug` shows more.
fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("BRAKECHECK_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,memory_serve=error,zbus=error"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .without_time()
        .init();
}
