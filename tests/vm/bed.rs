//! The virtual test bed, seen from the host.

use crate::check::{By, Check, End};
use crate::device_log;
use anyhow::{Context, Result, ensure};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A kernel on a processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) name: &'static str,
    kernel: &'static str,
    cpu: &'static str,
}

/// Every kernel that the bed offers.
pub(crate) const MACHINES: [Machine; 4] = [
    Machine { name: "6.1", kernel: "6.1", cpu: "intel" },
    Machine { name: "6.12", kernel: "6.12", cpu: "intel" },
    Machine { name: "7", kernel: "7", cpu: "intel" },
    Machine { name: "6.12-amd", kernel: "6.12", cpu: "amd" },
];

/// Begins each line of the guest that is meant for us.
pub(crate) const MARK: &str = "check ";

/// Emulated machines are slow, and this one may share a loaded host.
const TIMEOUT_S: &str = "1800";

/// A command that boots a machine with options of the bed, and runs this program in it with these arguments.
pub(crate) fn command(machine: &Machine, options: &[&OsStr], arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new("setsid");
    command.arg("--wait").arg(program()?).arg("run");
    command.args(["--kernel", machine.kernel, "--cpu", machine.cpu, "--devices", "pnvme,psata,power", "--smp", "4"]);
    command.args(["--host-root", "--timeout", TIMEOUT_S]).args(options);
    command.arg("--env").arg(format!("BRAKECHECK_BIN={}", tests::program()?.display()));
    command.arg("--").arg(std::env::current_exe()?).args(arguments);
    command.stdin(Stdio::null());
    Ok(command)
}

/// Runs the suite in a machine, prints each check as it comes, and gives all of them back.
pub(crate) fn run(machine: &Machine, knobs: &[&str]) -> Result<Vec<Check>> {
    let dir = tests::scratch()?;
    let log = dir.path().join("drives.log");
    let arguments: Vec<&str> = std::iter::once("guest").chain(knobs.iter().copied()).collect();
    let mut command = command(machine, &["--device-log".as_ref(), log.as_os_str()], &arguments)?;
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = BufReader::new(child.stdout.take().context("it was piped")?);
    let mut checks = Vec::new();
    for line in output.lines() {
        let line = line?;
        // What the kernel prints may stand before it in the same line.
        match line.split_once(MARK).and_then(|(_, json)| serde_json::from_str::<Check>(json).ok()) {
            Some(check) => {
                if check.by != By::Drive {
                    println!("{check}");
                }
                checks.push(check);
            }
            None => println!("       {line}"),
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "the machine ended with {status}");
    ensure!(checks.iter().any(Check::held), "the machine said nothing");
    let log = std::fs::read_to_string(&log).context("the drives wrote no log")?;
    for check in checks.iter_mut().filter(|c| c.by == By::Drive && c.end == End::NotApplicable) {
        check.end = End::Failed;
    }
    device_log::judge(&log, &mut checks);
    for check in checks.iter().filter(|c| c.by == By::Drive) {
        println!("{check}");
    }
    Ok(checks)
}

fn program() -> Result<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/vmbed/vmbed.sh");
    let path = std::env::var_os("BRAKECHECK_VMBED").map_or(beside, PathBuf::from);
    ensure!(path.is_file(), "there is no test bed at {}: name its program in BRAKECHECK_VMBED", path.display());
    Ok(path)
}
