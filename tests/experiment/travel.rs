//! An experiment taken to another host: written there by `show --json`, kept by `import`, and the same in every way of
//! looking at it.

use crate::machine::Machine;
use crate::{EXPERIMENT, command, report, run};
use anyhow::{Context, Result, ensure};
use protocol::experiment::ExperimentReport;
use serde_json::{Value, json};
use std::path::Path;
use tests::{Cli, Finished, scratch};

/// What does not say where it was made.
const FORMS: [&str; 6] = ["tuned", "tlp", "systemd", "tmpfiles", "cmdline", "script"];
const USES: [&str; 3] = ["latency", "throughput", "battery"];

/// As the file says it: equal but for the mark that it came from elsewhere.
fn unmarked(mut file: Value) -> Result<Value> {
    let marked = file["experiment"].as_object_mut().context("an experiment")?.remove("imported");
    ensure!(marked == Some(Value::Bool(true)), "not marked as imported: {marked:?}");
    Ok(file)
}

/// Takes the experiment to a fresh state directory and looks at both with every command that shows one. Returns how
/// many exports had something to recommend.
pub(crate) fn is_the_same_elsewhere(here: &Cli, machine: &Machine, measured: &ExperimentReport) -> Result<usize> {
    let (there, dir) = (Cli::new()?, scratch()?);
    let shown = Finished::of(command(here, machine, &["experiment", "show", "last"])?.spawn()?)?;
    let mut file = shown.json()?;
    let path = dir.path().join("experiment.json");
    std::fs::write(&path, &shown.stdout)?;
    let path = path.to_str().context("a path in UTF-8")?;
    for known in [false, true] {
        let told = there.run(["--json", "experiment", "import", path])?.json()?;
        ensure!(told["known"] == known && told["notes"] == json!([]), "{told}");
        ensure!(told["id"] == file["experiment"]["id"], "{told}");
    }
    let list = there.run(["--json", "experiment", "list"])?.json()?;
    ensure!(list.as_array().is_some_and(|l| l.len() == 1), "kept twice: {list}");
    let kept = there.run(["--json", "experiment", "show", "last"])?;
    ensure!(report(&kept)?.effects == measured.effects, "other effects: {}", kept.stdout);
    if let Some(experiment) = file["experiment"].as_object_mut() {
        experiment.remove("imported");
    }
    ensure!(unmarked(kept.json()?)? == file, "not the file that came: {}", kept.stdout);
    let exported = there.run(["experiment", "export", "last", "--format", "json"])?;
    ensure!(unmarked(exported.json()?)? == file, "not the file that came: {}", exported.stdout);
    is_compared_as_equal(&there, path, measured)?;
    let mut recommended = 0;
    for args in FORMS.iter().flat_map(|form| USES.map(|who| ["--format", form, "--use", who])) {
        let export = |cli: &Cli| cli.run(["experiment", "export", "last"].iter().chain(&args));
        let (first, second) = (export(here)?, export(&there)?);
        ensure!(!first.stdout.is_empty() && first.stdout == second.stdout, "{args:?}: {first:?} {second:?}");
        ensure!(first.code == second.code && first.stderr == second.stderr, "{args:?}: {first:?} {second:?}");
        recommended += usize::from(first.code == Some(0));
    }
    Ok(recommended)
}

/// The kept one and the file, side by side: nothing differs, and every effect stands on both sides as it was measured.
fn is_compared_as_equal(there: &Cli, file: &str, measured: &ExperimentReport) -> Result<()> {
    let compared = there.run(["--json", "experiment", "compare", "last", file])?.json()?;
    ensure!(compared["differences"] == json!([]), "{compared}");
    let rows = compared["effects"].as_array().context("effects")?;
    ensure!(rows.len() == measured.effects.len(), "{} of {} effects", rows.len(), measured.effects.len());
    let effects = serde_json::to_value(&measured.effects)?;
    for row in rows {
        let same = |e: &&Value| ["knob", "workload", "metric"].iter().all(|key| e[key] == row[key]);
        let effect = effects.as_array().and_then(|all| all.iter().find(same)).context("an effect nobody measured")?;
        let cells = row["cells"].as_array().context("cells")?;
        ensure!(cells.len() == 2, "{row}");
        for cell in cells {
            for key in ["verdict", "estimate_percent", "low_percent", "high_percent", "blocks"] {
                ensure!(cell[key] == effect[key], "{key}: {cell} of {effect}");
            }
        }
    }
    Ok(())
}

#[test]
fn an_experiment_is_the_same_on_another_host() -> Result<()> {
    let (machine, cli, target) = (Machine::new()?, Cli::new()?, scratch()?);
    let measured = two_blocks(&cli, &machine, target.path())?;
    let recommended = is_the_same_elsewhere(&cli, &machine, &measured)?;
    ensure!(recommended == 0, "two blocks decide nothing, and {recommended} exports recommend something");
    Ok(())
}

fn two_blocks(cli: &Cli, machine: &Machine, target: &Path) -> Result<ExperimentReport> {
    let text = EXPERIMENT.replace("16", "2\nmin_blocks = 2");
    report(&Finished::of(run(cli, machine, &text, target)?.spawn()?)?)
}
