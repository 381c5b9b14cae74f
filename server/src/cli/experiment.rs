//! `brakecheck experiment`: experiments of the user's own design, and those that are stored.

use super::Globals;
use super::export::ExportArgs;
use super::findings;
use super::measure::absolute;
use super::output::{self, shown};
use super::signals::stop_on_signals;
use super::table::Table;
use super::trials::Progress;
use crate::experiment::hand::Hand;
use crate::experiment::{self, Ask, Ended, Limits, Ready, Steering, file};
use crate::runner::Runner;
use clap::Subcommand;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::ExperimentFile;
use protocol::run::RunState;
use protocol::units::{Bytes, Seconds};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Options of `experiment`.
#[derive(Debug, clap::Args)]
pub struct ExperimentArgs {
    /// What to do; `list` when absent.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// All stored experiments, newest first
    List,
    /// Run a built-in design, or an experiment from a TOML or JSON file
    Run {
        /// A design (one-at-a-time, ab, ladder, factorial, x58-gigabyte, x58-supermicro, ncq, pcie-link, wait-mode,
        /// power-plan), or a file
        name: String,
        /// A directory, in which a file of our own is laid out and removed; or an existing file or device, which is
        /// only ever read [default: the file's `target`]
        #[arg(long, visible_alias = "filename", value_name = "PATH")]
        target: Option<String>,
        /// File size, or how much of a file or device is read, instead of the workloads' own
        #[arg(long, value_name = "SIZE")]
        size: Option<Bytes>,
        #[command(flatten)]
        conduct: ConductArgs,
    },
    /// What an experiment has found
    Show {
        /// Its id, the beginning of it if that is unique, or `last`
        id: String,
    },
    /// Hold experiments of several drives or hosts side by side
    Compare {
        /// Ids as for `show`, or files as for `import`, two or more; the others are held against the first
        #[arg(required = true, num_args = 2.., value_name = "ID")]
        experiments: Vec<String>,
    },
    /// Keep an experiment of another host, to look at and to compare
    Import {
        /// What `experiment show ID --json` has written there; `-` for standard input
        file: PathBuf,
    },
    /// Write an experiment as a report, or its recommendation as a profile, a unit or a script to apply
    Export(ExportArgs),
    /// Go on with an experiment that was stopped or interrupted
    Resume {
        /// Its id, the beginning of it if that is unique, or `last`
        id: String,
        #[command(flatten)]
        conduct: ConductArgs,
    },
}

/// Options of everything that runs an experiment.
#[derive(Debug, clap::Args)]
pub struct ConductArgs {
    /// Override a key of the experiment, as in an experiment file: `max_blocks=20`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
    /// Stop after this time with what is known then
    #[arg(long, value_name = "TIME")]
    max_time: Option<Seconds>,
    /// Time in all to wait for a busy machine to become quiet
    #[arg(long, value_name = "TIME", default_value = "60s")]
    patience: Seconds,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

impl ConductArgs {
    fn limits(&self) -> Limits {
        let time = |s: Seconds| Duration::from_micros(s.0.0);
        Limits { patience: time(self.patience), time: self.max_time.map(time) }
    }
}

/// Runs the subcommand.
pub fn run(args: &ExperimentArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    match args.command.as_ref().unwrap_or(&Command::List) {
        Command::List => list(&Runner::open(globals)?, globals),
        Command::Run { name, target, size, conduct: args } => {
            let mut spec = file::read(name, &args.set)?;
            if let Some(size) = size {
                spec = file::sized(&spec, *size)?;
            }
            if let Some(target) = target {
                spec.target.clone_from(target);
            }
            if spec.target.is_empty() {
                return Err(ErrorBody::new(ErrorCode::Usage, "The experiment needs a target.")
                    .hint("Name a directory, a file or a block device with --target."));
            }
            spec.target = absolute(&spec.target);
            let runner = Runner::open(globals)?;
            start(&runner, &|_| Ok(spec.clone()), args, globals)
        }
        Command::Show { id } => {
            let runner = Runner::open(globals)?;
            let file = experiment::export(&runner, &find(&runner, id)?)?;
            if globals.json {
                output::json(&file)?;
            } else {
                output::text(&findings::text(&file.report))?;
                output::text(&whose(&file))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Compare { experiments } => super::compare::run(experiments, globals, &find),
        Command::Import { file } => super::import::run(file, globals),
        Command::Export(args) => super::export::run(args, globals),
        Command::Resume { id, conduct: args } => {
            if !args.set.is_empty() {
                let error =
                    ErrorBody::new(ErrorCode::Usage, "An experiment goes on as it was begun: --set has no say.");
                return Err(error.hint("Start a new one with `brakecheck experiment run`."));
            }
            let runner = Runner::open(globals)?;
            let id = find(&runner, id)?;
            conduct(&|| Ready::again(&runner, &take(&runner), &id), &runner, args, globals)
        }
    }
}

/// Runs a new experiment.
pub(super) fn start(
    runner: &Runner,
    ask: Ask<'_>,
    args: &ConductArgs,
    globals: &Globals,
) -> Result<ExitCode, ErrorBody> {
    conduct(&|| Ready::new(runner, &take(runner), ask), runner, args, globals)
}

fn take(runner: &Runner) -> impl Fn() -> Result<Hand, ErrorBody> {
    || Hand::open(runner.root(), runner.state())
}

/// Runs an experiment to its end. Whatever was found is printed, also after an error or a signal.
fn conduct(
    ready: &dyn Fn() -> Result<Ready, ErrorBody>,
    runner: &Runner,
    args: &ConductArgs,
    globals: &Globals,
) -> Result<ExitCode, ErrorBody> {
    let steering = Steering::default();
    stop_on_signals(steering.control())?;
    let ready =
        ready().map_err(|e| if e.code == ErrorCode::Busy { e.hint("Start again when that has ended.") } else { e })?;
    let mut progress = Progress::new(args.quiet);
    let ended = ready.run(runner, args.limits(), &steering, &mut |event| progress.event(&event));
    drop(progress);
    let ended = ended?;
    if let (Some(error), true, None) = (&ended.error, ended.report.trials.is_empty(), ended.unrestored()) {
        return Err(error.clone());
    }
    if globals.json {
        output::json(&experiment::export(runner, &ended.id)?)?;
    } else {
        output::text(&findings::text(&ended.report))?;
        output::text(&ending(&ended.id, ended.state))?;
    }
    Ok(ExitCode::from(exit_code(&ended, steering.control().is_stopped())))
}

/// What is left to say of an experiment that did not end by itself, or whose settings are not back.
fn exit_code(ended: &Ended, stopped: bool) -> u8 {
    if let Some(error) = &ended.error {
        super::say(error);
    }
    match &ended.restored {
        Err(error) => {
            super::say(error);
            return ErrorCode::RestoreIncomplete.exit_code();
        }
        Ok(report) if !report.is_complete() => {
            for item in report.items.iter().filter(|i| i.message.is_some()) {
                eprintln!("{}", shown(&format!("{}: {}", item.id, item.message.as_deref().unwrap_or_default())));
            }
            return ErrorCode::RestoreIncomplete.exit_code();
        }
        Ok(_) => {}
    }
    match (&ended.error, stopped) {
        (Some(error), _) => error.code.exit_code(),
        (None, true) => ErrorCode::Interrupted.exit_code(),
        (None, false) => 0,
    }
}

fn ending(id: &str, state: RunState) -> String {
    match state {
        RunState::Done => format!("Experiment {id}.\n"),
        state => format!(
            "Experiment {id} is {}, not at its end: `brakecheck experiment resume {id}` goes on with it.\n",
            state.name()
        ),
    }
}

/// The last line of what `show` says.
fn whose(file: &ExperimentFile) -> String {
    let record = &file.experiment;
    if record.imported {
        let place = place(record.host.hostname.as_deref(), true);
        return shown(&format!("Experiment {}, run on {place}.", record.id)) + "\n";
    }
    ending(&record.id, file.state)
}

/// The experiment of this id, of the only id that begins so, or the last one.
pub(super) fn find(runner: &Runner, id: &str) -> Result<String, ErrorBody> {
    let ids = runner.store().experiments()?;
    let mut alike = ids.iter().filter(|i| !id.is_empty() && (i.starts_with(id) || id == "last"));
    match (alike.next(), alike.next()) {
        (Some(first), None) => Ok(first.clone()),
        (Some(first), Some(_)) if id == "last" || first == id => Ok(first.clone()),
        (Some(_), Some(_)) => {
            Err(ErrorBody::new(ErrorCode::Usage, format!("More than one experiment begins with `{}`.", shown(id))))
        }
        (None, _) => {
            let error = ErrorBody::new(ErrorCode::NotFound, format!("There is no experiment `{}`.", shown(id)));
            Err(error.hint("`brakecheck experiment list` lists all."))
        }
    }
}

/// Where it was run.
fn place(host: Option<&str>, imported: bool) -> String {
    let name = host.unwrap_or("-");
    if imported { format!("{name} (imported)") } else { name.to_owned() }
}

fn list(runner: &Runner, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let all = experiment::list(runner)?;
    if globals.json {
        output::json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        output::text("No experiment is stored yet.\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(&["id", "state", "design", "host", "target", "drive", "trials"]).words(&[1, 2, 3, 4, 5]);
    for e in &all {
        table.row([
            e.id.clone(),
            e.state.name().into(),
            shown(&e.title),
            shown(&place(e.host.as_deref(), e.imported)),
            shown(&e.target),
            shown(e.drive.as_deref().unwrap_or_default()),
            e.trials.to_string(),
        ]);
    }
    output::text(&table.render())?;
    Ok(ExitCode::SUCCESS)
}
