//! Every design on a machine where two settings write the same files: the depth of idle states, and C1E.

use crate::report;
use anyhow::{Context, Result, ensure};
use protocol::experiment::ExperimentReport;
use std::path::Path;
use std::process::{Command, Stdio};
use tests::{Finished, Tree, program, scratch};

const BOTH: &str = "knobs = ['cpu.turbo', 'cpu.c1e', 'cpu.deep-idle']\n";
const RUNGS: &str = "rung = [{ name = 'with', set = { 'cpu.c1e' = 'on' } }, \
                     { name = 'without', set = { 'cpu.deep-idle' = 'C1' } }]\n";

/// Two blocks of trials as short as they can be; the machine is as it was found after them.
fn ran(tree: &Tree, target: &Path, design: &str, more: &str) -> Result<ExperimentReport> {
    let file = target.join("experiment.toml");
    let text = format!(
        "design = '{design}'\nmin_blocks = 2\nmax_blocks = 2\n{more}[[workloads]]\nname = 'single'\nrw = 'randread'\n\
         size = '4m'\nruntime = '50ms'\nramp_time = '0s'\n"
    );
    std::fs::write(&file, text)?;
    let state = scratch()?;
    let mut command = Command::new(program()?);
    command.arg("--state-dir").arg(state.path()).arg("--sysroot").arg(tree.path()).arg("--json");
    command.args(["experiment", "run", "--patience", "0s", "--target"]).arg(target).arg(&file);
    let report = report(&Finished::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)?);
    tree.assert_as_found()?;
    report.with_context(|| design.to_owned())
}

#[test]
fn two_settings_of_the_same_files_cost_no_configuration() -> Result<()> {
    let (tree, target) = (Tree::laptop()?, scratch()?);
    // Of the runs of 2009 only those are left out that firmware alone could tell apart.
    let designs = [
        ("one-at-a-time", BOTH, 6),
        ("factorial", BOTH, 4),
        ("ladder", BOTH, 3),
        ("ab", BOTH, 2),
        ("ladder", RUNGS, 2),
        ("ab", RUNGS, 2),
        ("x58-gigabyte", "", 4),
        ("x58-supermicro", "", 5),
    ];
    for (design, more, configurations) in designs {
        let report = ran(&tree, target.path(), design, more)?;
        let names: Vec<_> = report.configurations.iter().map(|c| c.name.as_str()).collect();
        ensure!(names.len() == configurations, "{design} {more}: {names:?}, {:?}", report.unmapped);
        let lost = report.unmapped.iter().find(|u| u.reason.contains("the kernel") || u.setting.contains(" against "));
        ensure!(lost.is_none(), "{design} {more}: {lost:?}");
        let trials = report.trials.iter().filter(|t| t.void.is_none()).count();
        ensure!(trials >= 2 * configurations, "{design} {more}: {trials} trials");
    }
    Ok(())
}
