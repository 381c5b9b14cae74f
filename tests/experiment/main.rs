//! Whole experiments through the real program: a planted cost is found and nothing else is, whatever ends an
//! experiment puts the settings back and loses no trial, and what cannot be run is refused in words.

mod idle;
mod kills;
mod machine;
mod taken;
mod travel;

use anyhow::{Context, Result, ensure};
use machine::Machine;
use protocol::experiment::{ExperimentReport, Finding};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};
use tests::{Brake, Cli, Disk, Finished, Server, Tree, program, scratch, send};

/// Two knobs, each alone; trials as short as they can be.
const EXPERIMENT: &str = r#"
design = "one-at-a-time"
from = "all-performance"
knobs = ["cpu.turbo", "cpu.epb"]
threshold_percent = 10
max_blocks = 16
[[workloads]]
name = "single"
rw = "randread"
size = "8m"
runtime = "300ms"
ramp_time = "50ms"
"#;

fn command(cli: &Cli, machine: &Machine, args: &[&str]) -> Result<Command> {
    let mut command = cli.command(["--json", "--sysroot"])?;
    command.arg(machine.path()).args(args);
    Ok(command)
}

/// `experiment run` of this text.
fn run(cli: &Cli, machine: &Machine, text: &str, target: &Path) -> Result<Command> {
    let file = machine.path().join("experiment.toml");
    std::fs::write(&file, text)?;
    let mut command = command(cli, machine, &["experiment", "run", "--patience", "0s", "--target"])?;
    command.arg(target).arg(file);
    Ok(command)
}

fn report(finished: &Finished) -> Result<ExperimentReport> {
    ensure!(finished.code == Some(0), "{finished:?}");
    serde_json::from_str(&finished.stdout).with_context(|| finished.stdout.clone())
}

#[test]
fn the_setting_that_costs_something_is_found_and_no_other() -> Result<()> {
    let machine = Machine::new()?;
    let Some(disk) = Disk::with("ext4", 48)? else { return Ok(()) };
    let Some(brake) = Brake::new(&disk, machine.cost())? else { return Ok(()) };
    let cli = Cli::new()?;
    let child = run(&cli, &machine, EXPERIMENT, &disk.path())?.spawn()?;
    brake.take(child.id())?;
    let report = report(&Finished::of(child)?)?;
    drop(brake);
    let primary = |knob: &str| report.effects.iter().find(|e| e.primary && e.knob == knob).context("an effect");
    let (turbo, bias) = (primary("cpu.turbo")?, primary("cpu.epb")?);
    ensure!(turbo.verdict == Finding::Brake, "{turbo:#?}");
    let (low, high) = turbo.low_percent.zip(turbo.high_percent).context("an interval")?;
    ensure!(low < -40.0 && high > -60.0, "half of it is lost: {turbo:#?}");
    ensure!(!matches!(bias.verdict, Finding::Brake | Finding::Helps), "{bias:#?}");
    ensure!(report.headline.contains("Turbo"), "{}", report.headline);
    ensure!(travel::is_the_same_elsewhere(&cli, &machine, &report)? > 0, "a brake, and no export lets it go");
    ensure!(machine.changed().is_none(), "{:?} is not back", machine.changed());
    Ok(())
}

/// Starts an experiment and returns after its first block.
fn under_way(cli: &Cli, machine: &Machine, target: &Path) -> Result<(Child, BufReader<ChildStderr>)> {
    let mut child = run(cli, machine, &EXPERIMENT.replace("16", "4\nmin_blocks = 2"), target)?.spawn()?;
    let mut stderr = BufReader::new(child.stderr.take().context("stderr is piped")?);
    let (mut line, mut all) = (String::new(), String::new());
    while stderr.read_line(&mut line)? > 0 {
        if line.starts_with("After 1 block") {
            return Ok((child, stderr));
        }
        all += &std::mem::take(&mut line);
    }
    anyhow::bail!("no block ended: {all}")
}

fn names(dir: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(dir)?;
    Ok(entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
}

fn stored(cli: &Cli, machine: &Machine) -> Result<ExperimentReport> {
    report(&Finished::of(command(cli, machine, &["experiment", "show", "last"])?.spawn()?)?)
}

fn resumed_to_its_end(cli: &Cli, machine: &Machine, before: &ExperimentReport) -> Result<()> {
    let resume = ["experiment", "resume", "last", "--patience", "0s"];
    let after = report(&Finished::of(command(cli, machine, &resume)?.spawn()?)?)?;
    ensure!(after.trials.starts_with(&before.trials), "trials were lost");
    let counted = after.trials.iter().filter(|t| t.void.is_none()).count();
    ensure!(counted == 4 * 3, "{counted} trials of four blocks of three");
    ensure!(after.trials.iter().zip(0..).all(|(t, n)| t.number == n), "numbers have gaps");
    ensure!(machine.changed().is_none(), "{:?} is not back", machine.changed());
    let finished = Finished::of(command(cli, machine, &resume)?.spawn()?)?;
    finished.refused(2, &["has ended by itself"])
}

#[test]
fn a_killed_experiment_is_put_back_and_goes_on_where_it_stood() -> Result<()> {
    let (machine, cli, target) = (Machine::new()?, Cli::new()?, scratch()?);
    let (mut child, _stderr) = under_way(&cli, &machine, target.path())?;
    ensure!(machine.changed().is_some(), "nothing is set");
    child.kill()?;
    child.wait()?;
    let patience = Instant::now() + Duration::from_mins(1);
    while let Some(path) = machine.changed() {
        ensure!(Instant::now() < patience, "{path} is not back");
        std::thread::sleep(Duration::from_millis(20));
    }
    let before = stored(&cli, &machine)?;
    ensure!(before.trials.len() >= 3, "the first block had ended: {:?}", before.trials);
    ensure!(names(target.path())?.is_empty(), "the next start removes the file");
    resumed_to_its_end(&cli, &machine, &before)
}

#[test]
fn a_stopped_experiment_says_what_it_knows_and_can_go_on() -> Result<()> {
    let (machine, cli, target) = (Machine::new()?, Cli::new()?, scratch()?);
    let (child, mut stderr) = under_way(&cli, &machine, target.path())?;
    send(&child, Signal::INT)?;
    let finished = Finished::of(child)?;
    let mut rest = String::new();
    stderr.read_to_string(&mut rest)?;
    ensure!(finished.code == Some(130), "{finished:?} {rest}");
    let before: ExperimentReport = serde_json::from_str(&finished.stdout)?;
    let kept = stored(&cli, &machine)?;
    ensure!(before.trials.len() >= 3 && before.trials.len() == kept.trials.len(), "{:?}", before.trials);
    ensure!(machine.changed().is_none(), "{:?} is not back", machine.changed());
    ensure!(names(target.path())?.is_empty(), "the file is left");
    let list: Value = Finished::of(command(&cli, &machine, &["experiment", "list"])?.spawn()?)?.json()?;
    ensure!(list[0]["state"] == "stopped", "{list}");
    resumed_to_its_end(&cli, &machine, &kept)
}

#[test]
fn a_running_server_changes_the_settings_for_it() -> Result<()> {
    let (tree, target) = (Tree::laptop()?, scratch()?);
    let mut server = Server::below(tree.path())?;
    let file = target.path().join("experiment.toml");
    let text = EXPERIMENT.replace("16", "2\nmin_blocks = 2").replace("cpu.epb", "cpu.governor");
    std::fs::write(&file, text)?;
    let mut command = Command::new(program()?);
    command.arg("--state-dir").arg(server.state_dir()).arg("--sysroot").arg(tree.path()).arg("--json");
    command.args(["experiment", "run", "--patience", "0s", "--target"]).arg(target.path()).arg(&file);
    let report = report(&Finished::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)?)?;
    let counted = report.trials.iter().filter(|t| t.void.is_none()).count();
    ensure!(counted == 2 * 3, "{:?}", report.trials);
    // Before the server ends: its broker does not wait for that.
    tree.assert_as_found()?;
    ensure!(server.end(Signal::TERM)? == Some(0));
    Ok(())
}

/// A mixture is no value that could be set; a host that was found with one is compared as it was found all the same.
fn as_found_is_a_side(mut command: Command, tree: &Tree, target: &Path) -> Result<()> {
    let file = target.join("experiment.toml");
    let text = EXPERIMENT.replace("from = \"all-performance\"\n", "").replace("one-at-a-time", "ab");
    let text = text.replace("16", "2\nmin_blocks = 2").replace("cpu.epb", "cpu.governor");
    std::fs::write(&file, text)?;
    command.args(["experiment", "run", "--patience", "0s", "--target"]).arg(target).arg(&file);
    let report = report(&Finished::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)?)?;
    let names: Vec<_> = report.configurations.iter().map(|c| c.name.as_str()).collect();
    ensure!(names == ["as-found", "all-performance"], "{names:?}");
    let mixed = report.configurations[0].set.iter().find(|a| a.id == "cpu.governor").context("the governor")?;
    ensure!(mixed.value == "powersave x 1, performance x 1", "{mixed:?}");
    let counted = report.trials.iter().filter(|t| t.void.is_none()).count();
    ensure!(counted == 2 * 2, "{:?}", report.trials);
    tree.assert_as_found()
}

#[test]
fn a_host_as_found_is_compared_though_its_cpus_differ() -> Result<()> {
    let (tree, target, state) = (Tree::laptop()?, scratch()?, scratch()?);
    let mut command = Command::new(program()?);
    command.arg("--state-dir").arg(state.path()).arg("--sysroot").arg(tree.path()).arg("--json");
    as_found_is_a_side(command, &tree, target.path())?;
    let mut server = Server::below(tree.path())?;
    let mut command = Command::new(program()?);
    command.arg("--state-dir").arg(server.state_dir()).arg("--sysroot").arg(tree.path()).arg("--json");
    as_found_is_a_side(command, &tree, target.path())?;
    ensure!(server.end(Signal::TERM)? == Some(0));
    Ok(())
}

#[test]
fn the_command_line_does_not_get_between_a_servers_experiment_and_its_settings() -> Result<()> {
    let (tree, target) = (Tree::laptop()?, scratch()?);
    let mut server = Server::below(tree.path())?;
    let file = target.path().join("experiment.toml");
    let text = EXPERIMENT.replace("16", "200").replace("cpu.epb", "cpu.governor");
    std::fs::write(&file, text)?;
    let with = |args: &[&str]| -> Result<Child> {
        let mut command = Command::new(program()?);
        command.arg("--state-dir").arg(server.state_dir()).arg("--sysroot").arg(tree.path()).args(args);
        Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    };
    let paths = [target.path().to_string_lossy(), file.to_string_lossy()];
    let mut child = with(&["experiment", "run", "--patience", "0s", "--target", &paths[0], &paths[1]])?;
    let mut stderr = BufReader::new(child.stderr.take().context("stderr is piped")?);
    let mut line = String::new();
    while !line.starts_with("After 1 block") {
        line.clear();
        ensure!(stderr.read_line(&mut line)? > 0, "it ended before its first block");
    }
    // From now on some setting is in force at any time but for instants.
    Finished::of(with(&["knobs", "set", "pcie.aspm=powersave"])?)?
        .refused(6, &["An experiment changes settings now"])?;
    let restored = Finished::of(with(&["restore"])?)?;
    ensure!(restored.stdout.contains("has lost its settings and ends"), "{restored:?}");
    let mut rest = String::new();
    stderr.read_to_string(&mut rest)?;
    let ended = Finished::of(child)?;
    ensure!(ended.code == Some(130) && rest.contains("put the settings back meanwhile"), "{ended:?} {rest}");
    tree.assert_as_found()?;
    ensure!(server.end(Signal::TERM)? == Some(0));
    Ok(())
}

#[test]
fn what_is_risky_is_compared_once_the_risk_is_taken() -> Result<()> {
    let (tree, cli, target) = (Tree::laptop()?, Cli::new()?, scratch()?);
    let run = |risk: &str| -> Result<Finished> {
        let mut command = cli.command(["--json", "--sysroot"])?;
        command.arg(tree.path()).args(["experiment", "run", "pcie-link", "--patience", "0s", "--target"]);
        command.arg(target.path()).args(["--set", risk, "--set", "trial_seconds=0.1"]);
        let sizes = "workloads=[{name=\"r\",rw=\"randread\",size=\"8m\"}]";
        command.args(["--set", sizes, "--set", "max_blocks=2", "--set", "min_blocks=2"]);
        Finished::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    };
    run("risk=false")?.refused(5, &["is risky", "`risk = true`"])?;
    let report = report(&run("risk=true")?)?;
    let speeds = report.trials.iter().filter(|t| t.void.is_none() && t.configuration > 0).count();
    ensure!(speeds > 0, "{:?}", report.trials);
    tree.assert_as_found()
}

#[test]
fn a_check_picks_the_settings_by_itself() -> Result<()> {
    let (machine, cli, target) = (Machine::new()?, Cli::new()?, scratch()?);
    let short = ["max_blocks=2", "min_blocks=2", "trial_seconds=0.1"].iter().flat_map(|set| ["--set", set]);
    let args = ["check", "--size", "8m", "--patience", "0s", "--workloads", "4k-qd1", "--target"];
    let mut command = command(&cli, &machine, &args)?;
    let report = report(&Finished::of(command.arg(target.path()).args(short).spawn()?)?)?;
    let knobs = &report.spec.knobs;
    ensure!(["cpu.turbo", "cpu.epb", "cpu.governor"].iter().all(|k| knobs.iter().any(|known| known == k)), "{knobs:?}");
    ensure!(report.trials.iter().all(|t| t.workload == "4k-qd1"), "{:?}", report.trials);
    ensure!(report.effects.iter().all(|e| e.verdict == Finding::Undecided), "two blocks say nothing");
    ensure!(machine.changed().is_none() && names(target.path())?.is_empty(), "{:?} is not back", machine.changed());
    Ok(())
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_touched() -> Result<()> {
    let (machine, cli, target) = (Machine::new()?, Cli::new()?, scratch()?);
    let with = |old: &str, new: &str| EXPERIMENT.replace(old, new);
    let rungs = |a: &str, b: &str| {
        format!(
            "design = \"ladder\"\nworkloads = [\"4k-qd1\"]\n[[rung]]\nname = \"a\"\nset = {a}\n[[rung]]\nname = \"b\"\nset = {b}\n"
        )
    };
    let cases = [
        (with("threshold_percent", "treshold_percent"), 2, "did you mean `threshold_percent`?"),
        (with("one-at-a-time", "one-at-time"), 2, "did you mean `one-at-a-time`?"),
        (with("cpu.turbo", "cpu.trubo"), 2, "did you mean `cpu.turbo`?"),
        (with("cpu.epb", "cpu.prochot"), 5, "cpu.prochot cannot be set here"),
        (with("cpu.epb", "cpu.smt"), 5, "cpu.smt cannot be set here"),
        (with("rw = ", "wr = "), 2, "unknown key `wr`"),
        (with("= 10", "= 0"), 2, "threshold_percent is 0"),
        (with("= 10", "= -1"), 2, "threshold_percent is -1"),
        (with("= 10", "= nan"), 2, "threshold_percent is NaN"),
        (with("= 16", "= 3"), 2, "max_blocks is 3, below min_blocks"),
        (with("= 16", "= "), 2, "line 6"),
        (rungs("{\"cpu.turbo\" = \"off\"}", "{\"cpu.turbo\" = \"off\"}"), 2, "changes nothing"),
        (rungs("{}", "{\"cpu.turbo\" = \"offf\"}"), 2, "does not take `offf`; did you mean `off`?"),
        (rungs("{}", "{\"cpu.cores\" = \"1\"}"), 5, "cpu.cores cannot be set here"),
    ];
    for (text, code, words) in cases {
        let finished = Finished::of(run(&cli, &machine, &text, target.path())?.spawn()?)?;
        finished.refused(code, &[words]).with_context(|| text.clone())?;
    }
    let small = target.path().join("small");
    std::fs::write(&small, [0; 100])?;
    let finished = Finished::of(run(&cli, &machine, EXPERIMENT, &small)?.spawn()?)?;
    finished.refused(2, &["small has 100 B"])?;
    ensure!(machine.changed().is_none() && names(target.path())? == ["small"], "something was touched");
    let list: Value = Finished::of(command(&cli, &machine, &["experiment", "list"])?.spawn()?)?.json()?;
    ensure!(list == serde_json::json!([]), "{list}");
    Ok(())
}
