//! The suite inside the virtual machine.

use crate::bed::MARK;
use crate::check::{By, Check, End};
use crate::settings::{self, Settings};
use crate::witness::{self, Proof};
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use tests::Finished;

/// Tries every knob whose id begins with one of these; all, if there are none.
pub(crate) fn run(wanted: &[&str]) -> Result<()> {
    let dir = tempfile::tempdir()?;
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755))?;
    let cli = Cli { dir };
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

/// The program, with its state in the guest's own memory: everything else is read-only.
struct Cli {
    dir: TempDir,
}

impl Cli {
    fn command(&self) -> Result<Command> {
        let mut command = Command::new(tests::program()?);
        command.arg("--state-dir").arg(self.dir.path().join("state")).stdin(Stdio::null()).stdout(Stdio::piped());
        Ok(command)
    }

    fn run(&self, arguments: &[&str]) -> Result<Finished> {
        Finished::of(self.command()?.args(arguments).arg("--json").stderr(Stdio::piped()).spawn()?)
    }

    /// A server, which answers once it has printed its address.
    fn serve(&self) -> Result<Child> {
        let user = tests::server_user().into_iter().flat_map(|user| ["--user", user]);
        let mut server = self.command()?.args(["serve", "--port", "0"]).args(user).spawn()?;
        let output = server.stdout.as_mut().context("it was piped")?;
        let mut first = [0];
        output.read_exact(&mut first).context("the server says no address")?;
        Ok(server)
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
    if witness::is_held(id) {
        return try_held(cli, id, &values, original);
    }
    // The value in force last, so that it is a change, too.
    let (same, others): (Vec<_>, Vec<_>) = values.into_iter().partition(|v| *v == now);
    for value in others.into_iter().chain(same) {
        let set = set(cli, id, value)?;
        let done = set.held();
        report(&set)?;
        if done {
            prove(id, value, original)?;
        }
    }
    restore(cli, id, now, original)
}

/// What is in force only while it is held: the command line alone refuses it, a server's broker holds it, and it ends
/// with all of them.
fn try_held(cli: &Cli, id: &str, values: &[&str], original: &Settings) -> Result<()> {
    let (none, others): (Vec<&str>, Vec<&str>) = values.iter().partition(|v| **v == "none");
    let alone = cli.run(&["knobs", "set", &format!("{id}={}", others.first().context("it has values")?)])?;
    let refused = if alone.code == Some(5) { Ok("refused without a server".into()) } else { Err(alone.stdout) };
    report(&Check::new(id, "-", By::Program, refused))?;
    let mut server = cli.serve()?;
    for value in others.iter().chain(&none) {
        report(&set(cli, id, value)?)?;
        prove(id, value, original)?;
    }
    restore(cli, id, "none", original)?;
    for value in others.iter().take(1) {
        report(&set(cli, id, value)?)?;
        prove(id, value, original)?;
        tests::send(&server, Signal::KILL)?;
        server.wait()?;
        prove(id, "none", original)?;
    }
    Ok(())
}

fn set(cli: &Cli, id: &str, value: &str) -> Result<Check> {
    let wish = format!("{id}={value}");
    let wishes = witness::before(id).into_iter().chain([wish.as_str()]);
    let finished = cli.run(&["knobs", "set"].into_iter().chain(wishes).collect::<Vec<_>>())?;
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    let outcome =
        answer["outcomes"].as_array().and_then(|all| all.iter().find(|o| o["id"] == id)).unwrap_or(&Value::Null);
    let verdict = outcome["verdict"].as_str().unwrap_or("no verdict");
    let message =
        outcome["message"].as_str().or(answer["error"]["message"].as_str()).unwrap_or(&finished.stderr).trim();
    // What an emulated processor does not have, the kernel refuses to turn on, whoever asks; the program is to say so.
    if verdict == "failed"
        && let Some(error) = witness::refusal(id, value)
    {
        let said = format!("the kernel refuses it to everybody ({error}); said: {message}");
        return Ok(Check { end: End::NotApplicable, ..Check::new(id, value, By::Program, Ok(said)) });
    }
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
