//! One experiment on a machine with a planted cost.

use crate::knobs::{KNOBS, Knob};
use anyhow::{Context, Result, ensure};
use protocol::experiment::ExperimentReport;
use rustix::process::{Pid, setpriority_process};
use std::fmt::Write;
use std::time::{Duration, Instant};
use tests::{Brake, Cli, Cost, Disk, Finished, Tree};

/// Reads a second at full speed, of the experiment on six knobs.
const FULL: u32 = 200;
/// The same for a check, which asks for 200 a second in one of its workloads.
const FULL_CHECK: u32 = 400;

/// Before whatever else this machine does: reads that come late from a busy processor are no cost of a knob.
const PRIORITY: i32 = -19;

/// What an experiment found, and how long it took.
pub(crate) struct Found {
    pub(crate) report: ExperimentReport,
    pub(crate) took: Duration,
}

/// The experiment: every knob alone, at a threshold of 1 %. The first reads of a trial begin a tenth of a second of the
/// limit; it is measured from shortly before such an instant to shortly before another.
fn experiment() -> String {
    let mut text = String::from(
        "design = \"one-at-a-time\"\nfrom = \"all-performance\"\nthreshold_percent = 1\nmax_blocks = 60\n",
    );
    // Writing to a string does not fail.
    let _ = writeln!(text, "knobs = {:?}", KNOBS.map(|k| k.id));
    text + "[[workloads]]\nname = \"single\"\nrw = \"randread\"\nsize = \"8m\"\nruntime = \"500ms\"\nramp_time = \"180ms\"\n"
}

/// Runs the experiment with a cost of so many percent on one knob. `None`, with a word on why, where no cost can be
/// planted.
pub(crate) fn run(planted: &Knob, percent: u32) -> Result<Option<Found>> {
    let text = experiment();
    with_cost(planted, percent, FULL, |cli, tree, disk| {
        let file = cli.state_dir().join("experiment.toml");
        std::fs::write(&file, &text)?;
        let mut command = cli.command(["--json", "--sysroot"])?;
        command.arg(tree.path()).args(["experiment", "run", "--quiet", "--patience", "0s", "--target"]);
        command.arg(disk.path()).arg(file);
        Ok(command)
    })
}

/// Runs a check of these knobs, as a user would.
pub(crate) fn check(knobs: &[&str], planted: &Knob, percent: u32) -> Result<Option<Found>> {
    with_cost(planted, percent, FULL_CHECK, |cli, tree, disk| {
        let mut command = cli.command(["--json", "--sysroot"])?;
        command.arg(tree.path()).args(["check", "--quiet", "--size", "16m", "--knobs", &knobs.join(","), "--target"]);
        command.arg(disk.path());
        Ok(command)
    })
}

/// Runs a command that prints a report.
fn with_cost(
    planted: &Knob,
    percent: u32,
    full: u32,
    command: impl Fn(&Cli, &Tree, &Disk) -> Result<std::process::Command>,
) -> Result<Option<Found>> {
    let (tree, cli) = (Tree::laptop()?, Cli::new()?);
    let Some(disk) = Disk::in_memory("ext4", 48)? else { return Ok(None) };
    let (file, saving) = (tree.path().join(planted.file), planted.saving.to_owned());
    let Some(brake) = Brake::new(&disk, Cost { file, saving, slowed: full * (100 - percent) / 100, full })? else {
        return Ok(None);
    };
    let began = Instant::now();
    let child = command(&cli, &tree, &disk)?.spawn()?;
    brake.take(child.id())?;
    let process = Pid::from_raw(i32::try_from(child.id())?);
    setpriority_process(process, PRIORITY)?;
    let finished = Finished::of(child)?;
    let took = began.elapsed();
    ensure!(finished.code == Some(0), "{finished:?}");
    let report = serde_json::from_str(&finished.stdout).with_context(|| finished.stdout.clone())?;
    drop(brake);
    tree.assert_as_found()?;
    Ok(Some(Found { report, took }))
}
