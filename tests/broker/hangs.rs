//! A broker that hangs, or has died: nobody waits for it for ever, and what it has set goes back.

use anyhow::{Result, ensure};
use power::broker::Client;
use rustix::process::Signal;
use serde_json::json;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use tests::{Finished, Process, Server, Tree, await_that, program, scratch};

/// A command on this tree with this state directory.
fn run(tree: &Tree, state: &Path, args: &[&str]) -> Result<Finished> {
    let mut command = Command::new(program()?);
    command.arg("--sysroot").arg(tree.path()).arg("--state-dir").arg(state).args(args);
    Finished::of(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

/// A server that has set something for its session, and its broker.
async fn changed() -> Result<(Tree, Server, Process)> {
    let tree = Tree::laptop()?;
    let server = Server::below(tree.path())?;
    server.post("/knobs", &json!({ "set": [{ "id": "cpu.turbo", "value": "off" }] })).await?;
    ensure!(!tree.changes()?.is_empty());
    let broker = Process::child(server.id(), "broker", None)?;
    Ok((tree, server, broker))
}

#[tokio::test]
async fn a_broker_that_hangs_is_named_and_restore_ends_it() -> Result<()> {
    let (tree, mut server, broker) = changed().await?;
    let state = server.state_dir();
    broker.signal(Signal::STOP)?;
    let pid = broker.pid.to_string();
    run(&tree, &state, &["restore", "--dry-run"])?.refused(6, &[&pid, "does not answer", "`brakecheck restore`"])?;
    let restored = run(&tree, &state, &["restore"])?;
    ensure!(restored.code == Some(0) && restored.stderr.contains(&pid), "{restored:?}");
    broker.ended()?;
    tree.assert_as_found()?;
    ensure!(server.end(Signal::TERM)? == Some(0));
    Ok(())
}

#[test]
fn a_server_does_not_start_beside_a_broker_that_hangs() -> Result<()> {
    let (tree, state) = (Tree::laptop()?, scratch()?);
    ensure!(run(&tree, state.path(), &["knobs", "set", "cpu.turbo=off"])?.code == Some(0));
    // We are its server, whose death would wake it up.
    let (ours, theirs) = UnixStream::pair()?;
    let mut child = Command::new(program()?)
        .args(["broker", "--sysroot"])
        .arg(tree.path())
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::from(File::open(state.path().join("journal"))?))
        .spawn()?;
    let server = Client::new(ours);
    server.greet()?;
    let broker = Process::of(child.id())?;
    broker.signal(Signal::STOP)?;
    let serve = run(&tree, state.path(), &["serve", "--port", "0", "--user", "root"])?;
    let listed = run(&tree, state.path(), &["knobs"])?;
    let restored = run(&tree, state.path(), &["restore"])?;
    broker.signal(Signal::KILL)?;
    child.wait()?;
    drop(server);
    serve.refused(6, &[&broker.pid.to_string(), "does not answer"])?;
    ensure!(listed.code == Some(0) && listed.stdout.contains("does not answer"), "{listed:?}");
    ensure!(restored.code == Some(0), "{restored:?}");
    tree.assert_as_found()
}

#[tokio::test]
async fn a_server_ends_though_its_broker_hangs() -> Result<()> {
    let (tree, mut server, broker) = changed().await?;
    broker.signal(Signal::STOP)?;
    let process = Process::of(server.id())?;
    process.signal(Signal::TERM)?;
    process.ended()?;
    ensure!(server.end(Signal::TERM)? == Some(0));
    broker.signal(Signal::KILL)?;
    await_that("the sentinel has put back", || Ok(tree.changes()?.is_empty().then_some(())))
}

#[tokio::test]
async fn without_its_broker_a_server_lists_and_says_why_no_more() -> Result<()> {
    let (tree, server, broker) = changed().await?;
    broker.signal(Signal::KILL)?;
    broker.ended()?;
    let state = server.get("/knobs").await?;
    ensure!(state["read_only"].as_str().is_some_and(|why| why.contains("restart Brakecheck")), "{state}");
    ensure!(state["knobs"].as_array().is_some_and(|knobs| knobs.iter().any(|k| k["id"] == "cpu.turbo")), "{state}");
    let set = json!({ "set": [{ "id": "cpu.turbo", "value": "off" }] });
    for (path, body) in [("/knobs", set), ("/restore", json!({}))] {
        let error = server.post(path, &body).await.err().map(|e| e.to_string()).unwrap_or_default();
        ensure!(error.contains("not-permitted") && error.contains("restart Brakecheck"), "{path}: {error}");
        ensure!(!error.contains("were put back"), "{path}: {error}");
    }
    await_that("the sentinel has put back", || Ok(tree.changes()?.is_empty().then_some(())))
}
