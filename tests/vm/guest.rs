//! The suite inside the virtual machine.

use crate::bed::MARK;
use crate::check::{By, Check, End};
use crate::settings::{self, Settings};
use crate::witness::{self, Proof};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::process::{Command, Stdio};
use tempfile::TempDir;
use tests::Finished;

/// Tries every knob whose id begins with one of these; all, if there are none.
pub(crate) fn run(wanted: &[&str]) -> Result<()> {
    let cli = Cli { state: tempfile::tempdir()? };
    let listed = cli.run(&["knobs"])?.json()?;
    let knobs = listed["knobs"].as_array().context("`knobs --json` lists knobs")?;
    let original = settings::now();
    for knob in knobs {
        let id = knob["id"].as_str().context("a knob has an id")?;
        if wanted.is_empty() || wanted.iter().any(|w| id.starts_with(w)) {
            try_one(&cli, knob, id, &original)?;
        }
    }
    Ok(())
}

/// The program, with its journal in the guest's own memory: everything else is read-only.
struct Cli {
    state: TempDir,
}

impl Cli {
    fn run(&self, arguments: &[&str]) -> Result<Finished> {
        let mut command = Command::new(tests::program()?);
        command.arg("--state-dir").arg(self.state.path()).args(arguments).arg("--json");
        Finished::of(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    }
}

fn report(check: &Check) -> Result<()> {
    println!("{MARK}{}", serde_json::to_string(check)?);
    Ok(())
}

fn not_applicable(id: &str, value: &str, said: &str) -> Result<()> {
    let (knob, value, said) = (id.into(), value.into(), said.into());
    report(&Check { knob, value, by: By::Program, end: End::NotApplicable, said })
}

fn try_one(cli: &Cli, knob: &Value, id: &str, original: &Settings) -> Result<()> {
    let now = knob["value"].as_str().unwrap_or("none");
    if knob["writable"] != true {
        return not_applicable(id, now, knob["reason"].as_str().unwrap_or("no reason is given"));
    }
    if let Some(risk) = knob["risk"].as_str() {
        return not_applicable(id, now, &format!("risky, asks first: {risk}"));
    }
    let values: Vec<&str> = knob["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    ensure!(!values.is_empty(), "{id} can be set to nothing");
    // The value in force last, so that it is a change, too.
    let (same, others): (Vec<_>, Vec<_>) = values.into_iter().partition(|v| *v == now);
    for value in others.into_iter().chain(same) {
        let set = set(cli, id, value)?;
        let done = !set.failed();
        report(&set)?;
        if done {
            prove(id, value, original)?;
        }
    }
    restore(cli, id, now, original)
}

fn set(cli: &Cli, id: &str, value: &str) -> Result<Check> {
    let finished = cli.run(&["knobs", "set", &format!("{id}={value}")])?;
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    let outcome = &answer["outcomes"][0];
    let verdict = outcome["verdict"].as_str().unwrap_or("no verdict");
    let message =
        outcome["message"].as_str().or(answer["error"]["message"].as_str()).unwrap_or(&finished.stderr).trim();
    let done = finished.code == Some(0) && matches!(verdict, "applied" | "unchanged");
    let found =
        if done { Ok(verdict.into()) } else { Err(format!("{verdict}, exit code {:?}: {message}", finished.code)) };
    Ok(Check::new(id, value, By::Program, found))
}

fn prove(id: &str, value: &str, original: &Settings) -> Result<()> {
    for proof in witness::of(id, value, original) {
        let check = match proof {
            Proof::Kernel(found) => Check::new(id, value, By::Kernel, found),
            Proof::Drive(said) => Check { end: End::NotApplicable, ..Check::new(id, value, By::Drive, Ok(said)) },
        };
        report(&check)?;
    }
    Ok(())
}

/// Puts back, and compares every setting of the machine.
fn restore(cli: &Cli, id: &str, value: &str, original: &Settings) -> Result<()> {
    let finished = cli.run(&["restore"])?;
    let different = settings::difference(original, &settings::now());
    let found = match finished.code {
        Some(0) if different.is_empty() => Ok(format!("{} files as they were", original.len())),
        Some(0) => Err(different.join("; ")),
        code => Err(format!("exit code {code:?}: {}{}", finished.stdout, finished.stderr)),
    };
    report(&Check::new(id, value, By::Restore, found))?;
    prove(id, value, original)
}
