//! One experiment on a machine with a planted cost.

use crate::knobs::{KNOBS, Knob};
use anyhow::{Context, Result, ensure};
use protocol::experiment::ExperimentReport;
use rustix::process::{Pid, setpriority_process};
use std::fmt::Write;
use std::process::Command;
use std::time::{Duration, Instant};
use tests::{Brake, Cli, Cost, Disk, Drive, Finished, Pace, Tree};

/// Reads a second at full speed, of the experiment on six knobs.
const FULL: u32 = 200;
/// The drive of a check: about as quiet as a solid-state drive on an idle machine.
const PACE: Pace = Pace { read: Duration::from_millis(4), bandwidth: 400_000_000 };

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
    let (tree, cli) = (Tree::laptop()?, Cli::new()?);
    let Some(disk) = Disk::in_memory("ext4", 48)? else { return Ok(None) };
    let cost = Cost { setting: planted.below(tree.path()), slowed: FULL * (100 - percent) / 100, full: FULL };
    let Some(brake) = Brake::new(&disk, cost)? else { return Ok(None) };
    let file = cli.state_dir().join("experiment.toml");
    std::fs::write(&file, experiment())?;
    let mut command = cli.command(["--json", "--sysroot"])?;
    command.arg(tree.path()).args(["experiment", "run", "--quiet", "--patience", "0s", "--target"]);
    command.arg(disk.path()).arg(file);
    found(command, &tree, |process| brake.take(process)).map(Some)
}

/// Runs a check of these knobs, as a user would, with a cost of so many percent on one.
pub(crate) fn check(knobs: &[&str], planted: &Knob, percent: u32) -> Result<Option<Found>> {
    let (tree, cli) = (Tree::laptop()?, Cli::new()?);
    let Some(drive) = Drive::with("ext4", 64, PACE)? else { return Ok(None) };
    let _cost = drive.slowed(100.0 / f64::from(100 - percent), planted.below(tree.path()))?;
    let mut command = cli.command(["--json", "--sysroot"])?;
    command.arg(tree.path()).args(["check", "--quiet", "--size", "16m", "--knobs", &knobs.join(","), "--target"]);
    command.arg(drive.path());
    found(command, &tree, |_| Ok(())).map(Some)
}

/// Runs a command that prints a report; `start` is told its process.
fn found(mut command: Command, tree: &Tree, start: impl FnOnce(u32) -> Result<()>) -> Result<Found> {
    let began = Instant::now();
    let child = command.spawn()?;
    start(child.id())?;
    setpriority_process(Pid::from_raw(i32::try_from(child.id())?), PRIORITY)?;
    let finished = Finished::of(child)?;
    let took = began.elapsed();
    ensure!(finished.code == Some(0), "{finished:?}");
    let report = serde_json::from_str(&finished.stdout).with_context(|| finished.stdout.clone())?;
    tree.assert_as_found()?;
    Ok(Found { report, took })
}
