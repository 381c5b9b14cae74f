//! However a run ends, nothing stays behind.

use crate::names;
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Child;
use tests::{Cli, Finished, scratch, send};

/// Starts a long run and returns once it measures.
fn measuring(cli: &Cli, target: &Path) -> Result<(Child, BufReader<std::process::ChildStderr>)> {
    let mut command = cli.command(["bench", "--json", "--rw", "randread", "--size", "32m", "--runtime", "60s"])?;
    let mut child = command.arg("--target").arg(target).spawn()?;
    let mut stderr = BufReader::new(child.stderr.take().context("stderr is piped")?);
    let mut line = String::new();
    while stderr.read_line(&mut line)? > 0 {
        if line.contains("IOPS") {
            return Ok((child, stderr));
        }
    }
    anyhow::bail!("it never measured: {line}")
}

fn last_state(cli: &Cli) -> Result<Value> {
    let list = cli.run(["results", "list", "--json"])?.json()?;
    Ok(list[0]["state"].clone())
}

#[test]
fn sigint_and_sigterm_end_a_run_with_130_and_its_result() -> Result<()> {
    for signal in [Signal::INT, Signal::TERM] {
        let (cli, target) = (Cli::new()?, scratch()?);
        let (child, mut stderr) = measuring(&cli, target.path())?;
        ensure!(names(target.path())?.len() == 1, "there is no file while it measures");
        send(&child, signal)?;
        let finished = Finished::of(child)?;
        let mut rest = String::new();
        stderr.read_to_string(&mut rest)?;
        ensure!(finished.code == Some(130), "{signal:?}: {finished:?} {rest}");
        let record: Value = serde_json::from_str(&finished.stdout)?;
        ensure!(record["results"][0]["cut_short"] == true, "{record}");
        ensure!(record["state"] == "stopped" && last_state(&cli)? == "stopped", "{record}");
        ensure!(names(target.path())?.is_empty(), "{signal:?}: {:?} is left", names(target.path())?);
    }
    Ok(())
}

#[test]
fn after_sigkill_the_next_start_cleans_up() -> Result<()> {
    let (cli, target, other) = (Cli::new()?, scratch()?, scratch()?);
    let (child, _stderr) = measuring(&cli, target.path())?;
    send(&child, Signal::KILL)?;
    Finished::of(child)?;
    ensure!(names(target.path())?.len() == 1, "SIGKILL cannot have removed the file");
    let mut command = cli.command(["bench", "--rw", "randread", "--size", "16m", "--runtime", "100ms", "--target"])?;
    let finished = Finished::of(command.arg(other.path()).spawn()?)?;
    ensure!(finished.code == Some(0), "{finished:?}");
    ensure!(names(target.path())?.is_empty(), "{:?} is left", names(target.path())?);
    let list = cli.run(["results", "list", "--json"])?.json()?;
    ensure!(list[1]["state"] == "interrupted", "{list}");
    Ok(())
}

#[test]
fn a_directory_removed_meanwhile_ends_the_run_in_words() -> Result<()> {
    let (cli, parent) = (Cli::new()?, scratch()?);
    let target = parent.path().join("target");
    std::fs::create_dir(&target)?;
    let (child, mut stderr) = measuring(&cli, &target)?;
    std::fs::remove_dir_all(&target)?;
    let finished = Finished::of(child)?;
    let mut rest = String::new();
    stderr.read_to_string(&mut rest)?;
    ensure!(finished.code == Some(6) && rest.contains("removed"), "{finished:?} {rest}");
    let record: Value = serde_json::from_str(&finished.stdout)?;
    ensure!(record["state"] == "failed" && record["error"]["code"] == "run-failed", "{record}");
    ensure!(names(parent.path())?.is_empty(), "{:?} is left", names(parent.path())?);
    Ok(())
}
