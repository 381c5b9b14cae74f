//! `make vm`: every knob on real kernels, against what the kernel and the drives themselves say.
//!
//! Boots each kernel of the virtual test bed, whose drives act on power settings, and runs the program in it: each
//! value of each knob that can be set there is set, looked for in the kernel's own counters and in the drives' log by
//! means of their own ([`witness`]), and put back, after which every setting must be as it was.
//!
//! `make vm ARGS=planted` runs experiments on these drives instead ([`planted`]).
//!
//! `BRAKECHECK_VMBED` names the test bed's program, `BRAKECHECK_BIN` the program under test.

mod bed;
mod check;
mod device_log;
mod guest;
mod planted;
mod settings;
mod witness;

use anyhow::{Result, bail};
use bed::{MACHINES, Machine};
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["guest", knobs @ ..] => {
            guest::run(knobs)?;
            Ok(ExitCode::SUCCESS)
        }
        ["planted", arguments @ ..] => Ok(exit_code(planted::host(arguments)?)),
        ["planted-guest", how] => Ok(exit_code(planted::guest(*how == "awake")?)),
        ["--help" | "-h"] => {
            println!("vm planted [ROUNDS]: experiments on drives whose savings are slow");
            println!("vm [--machine NAME]... [KNOB]...: all machines, or these; all knobs, or those that begin so");
            println!("machines: {}", MACHINES.map(|m| m.name).join(", "));
            Ok(ExitCode::SUCCESS)
        }
        arguments => host(arguments),
    }
}

fn host(arguments: &[&str]) -> Result<ExitCode> {
    let (mut machines, mut knobs) = (Vec::new(), Vec::new());
    let mut arguments = arguments.iter();
    while let Some(&argument) = arguments.next() {
        match argument {
            "--machine" => {
                let name = arguments.next().copied().unwrap_or_default();
                let Some(machine) = MACHINES.iter().find(|m| m.name == name) else {
                    bail!("no machine `{name}`; there are {}", MACHINES.map(|m| m.name).join(", "))
                };
                machines.push(machine);
            }
            option if option.starts_with('-') => bail!("no option `{option}`; see --help"),
            knob => knobs.push(knob),
        }
    }
    if machines.is_empty() {
        machines = MACHINES.iter().collect();
    }
    let mut failed = 0;
    for machine in machines {
        failed += one(machine, &knobs)?;
    }
    println!("{}", if failed == 0 { "all as it should be".into() } else { format!("{failed} checks failed") });
    Ok(exit_code(failed == 0))
}

fn exit_code(right: bool) -> ExitCode {
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns how many checks failed.
fn one(machine: &Machine, knobs: &[&str]) -> Result<usize> {
    println!("== {}", machine.name);
    let checks = bed::run(machine, knobs)?;
    let failed = checks.iter().filter(|c| c.failed()).count();
    let (held, skipped) = (checks.iter().filter(|c| c.held()).count(), checks.len() - failed);
    println!("-- {}: {held} held, {failed} failed, {} not applicable", machine.name, skipped - held);
    Ok(failed)
}
