//! Somebody puts the settings back while an experiment is on.

use crate::kills::{begun, ended};
use crate::machine::Machine;
use crate::{command, under_way};
use anyhow::{Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use std::process::{Command, Stdio};
use tests::{Cli, Finished, Server, Tree, await_that, program, scratch};

fn restore(server: &Server, tree: &Tree) -> Result<()> {
    let mut command = Command::new(program()?);
    command.arg("--state-dir").arg(server.state_dir()).arg("--sysroot").arg(tree.path()).arg("restore");
    let done = Finished::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)?;
    ensure!(done.code == Some(0) && done.stdout.contains("has lost its settings and ends"), "{done:?}");
    Ok(())
}

async fn state(server: &Server) -> Result<Value> {
    Ok(server.get("/experiments").await?[0]["state"].clone())
}

#[tokio::test]
async fn an_experiment_ends_also_while_its_values_are_those_found() -> Result<()> {
    let tree = Tree::laptop()?;
    let mut server = Server::below(tree.path())?;
    let id = begun(&server, &["cpu.turbo"]).await?;
    // At full performance nothing of this setting is changed.
    await_that("it is as found", || Ok(tree.changes()?.is_empty().then_some(())))?;
    restore(&server, &tree)?;
    ended(&server, &id).await?;
    ensure!(state(&server).await? == "stopped");
    ensure!(server.end(Signal::TERM)? == Some(0));
    tree.assert_as_found()
}

#[tokio::test]
async fn the_next_experiment_has_nothing_to_do_with_it() -> Result<()> {
    let tree = Tree::laptop()?;
    let mut server = Server::below(tree.path())?;
    let first = begun(&server, &["cpu.turbo", "cpu.epb"]).await?;
    restore(&server, &tree)?;
    server.delete(&format!("/experiments/{first}")).await?;
    ended(&server, &first).await?;
    let second = begun(&server, &["cpu.turbo", "cpu.epb"]).await?;
    server.event(|f| f["type"] == "block-finished" && f["experiment"] == second).await?;
    ensure!(state(&server).await? == "running");
    ensure!(server.end(Signal::TERM)? == Some(0));
    tree.assert_as_found()
}

#[test]
fn one_of_the_command_line_is_known_to_others_and_can_go_on() -> Result<()> {
    let (machine, cli, target) = (Machine::new()?, Cli::new()?, scratch()?);
    let (child, _stderr) = under_way(&cli, &machine, target.path())?;
    let beside = |args: &[&str]| Finished::of(command(&cli, &machine, args)?.spawn()?);
    beside(&["knobs", "set", "cpu.turbo=on"])?.refused(6, &["An experiment changes settings now."])?;
    let restored = beside(&["restore"])?;
    ensure!(restored.code == Some(0) && restored.stdout.contains("ends with the trial that is on"), "{restored:?}");
    let finished = Finished::of(child)?;
    ensure!(finished.code == Some(130), "{finished:?}");
    ensure!(machine.changed().is_none(), "{:?} is not back", machine.changed());
    let resumed = beside(&["experiment", "resume", "last", "--patience", "0s"])?;
    ensure!(resumed.code == Some(0), "{resumed:?}");
    Ok(())
}
