//! Who puts back when somebody ends in order, or hangs.

use crate::Broker;
use anyhow::{Result, ensure};
use power::broker::Client;
use power::desk::Desk;
use protocol::knob::{Assignment, Lifetime};
use rustix::process::Signal;
use serde_json::json;
use tests::{Process, Server, Tree, await_that};

fn no_turbo() -> Vec<Assignment> {
    vec![Assignment { id: "cpu.turbo".into(), value: "off".into() }]
}

/// A broker whose server has set something for the session, and a command line something to be kept.
fn changed() -> Result<(Broker, Client)> {
    let (broker, socket) = Broker::start()?;
    let server = Client::new(socket);
    server.greet()?;
    for outcome in server.set(&no_turbo(), Lifetime::Session, false)? {
        ensure!(outcome.verdict.is_done(), "{outcome:?}");
    }
    ensure!(!broker.tree.changes()?.is_empty());
    Ok((broker, server))
}

#[test]
fn the_session_ends_with_the_server() -> Result<()> {
    let (broker, server) = changed()?;
    server.hang_up();
    broker.ended()?.assert_as_found()
}

#[test]
fn the_session_ends_with_the_broker() -> Result<()> {
    for signal in [Signal::TERM, Signal::INT] {
        let (broker, server) = changed()?;
        Process::of(broker.child.id())?.signal(signal)?;
        broker.ended()?.assert_as_found()?;
        let error = server.list().err();
        ensure!(error.as_ref().is_some_and(|e| e.message.contains("has ended")), "{error:?}");
    }
    Ok(())
}

#[test]
fn what_is_to_be_kept_stays_until_it_is_put_back() -> Result<()> {
    let (broker, server) = changed()?;
    server.restore(false)?;
    let caller = broker.client()?;
    let kept = caller.set(&no_turbo(), Lifetime::Kept, false)?;
    ensure!(kept.iter().all(|o| o.verdict.is_done()), "{kept:?}");
    server.hang_up();
    let journal = broker.journal.path().to_owned();
    let (tree, _directory) = {
        let mut broker = broker;
        Process::of(broker.child.id())?.ended()?;
        ensure!(broker.child.wait()?.success());
        (broker.tree, broker.journal)
    };
    ensure!(!tree.changes()?.is_empty(), "it is gone");
    let mut keeper = power::keeper::Keeper::open(power::Root::new(tree.path())?, &journal)?;
    ensure!(keeper.restore(power::keeper::Scope::All, false).is_complete());
    tree.assert_as_found()
}

#[test]
fn a_second_broker_waits_for_the_first_one() -> Result<()> {
    let (broker, server) = changed()?;
    let root = broker.root()?;
    let refused = power::keeper::Keeper::open(root, broker.journal.path()).err();
    ensure!(refused.as_ref().is_some_and(|e| e.to_string().contains(&broker.child.id().to_string())), "{refused:?}");
    server.hang_up();
    broker.ended()?.assert_as_found()
}

#[tokio::test]
async fn a_server_that_hangs_loses_its_settings_and_goes_on_without_them() -> Result<()> {
    let tree = Tree::laptop()?;
    let mut server = Server::below(tree.path())?;
    server.post("/knobs", &json!({ "set": [{ "id": "cpu.turbo", "value": "off" }] })).await?;
    ensure!(!tree.changes()?.is_empty());
    let process = Process::of(server.id())?;
    process.signal(Signal::STOP)?;
    await_that("the settings are back", || Ok(tree.changes()?.is_empty().then_some(())))?;
    process.signal(Signal::CONT)?;
    ensure!(server.get("/knobs").await?["changed"] == 0);
    server.post("/knobs", &json!({ "set": [{ "id": "cpu.turbo", "value": "off" }] })).await?;
    ensure!(!tree.changes()?.is_empty(), "nothing can be set any more");
    ensure!(server.end(Signal::TERM)? == Some(0));
    tree.assert_as_found()
}

#[test]
fn a_journal_that_is_removed_is_there_again_for_the_sentinel() -> Result<()> {
    let (broker, server) = changed()?;
    for entry in std::fs::read_dir(broker.journal.path())? {
        std::fs::remove_file(entry?.path())?;
    }
    let is_journal = |name: &str| name.starts_with("journal") && !name.contains('.');
    await_that("the journal is there again", || {
        server.renew()?;
        let mut names = std::fs::read_dir(broker.journal.path())?.flatten().map(|e| e.file_name());
        Ok(names.any(|name| name.to_str().is_some_and(is_journal)).then_some(()))
    })?;
    let process = Process::of(broker.child.id())?;
    let sentinel = Process::child(process.pid, "sentinel", None)?;
    let proof = (process.status("Name")?, process.status("NoNewPrivs")?);
    ensure!(proof == ("brakecheck".into(), "1".into()), "{proof:?}");
    process.signal(Signal::KILL)?;
    sentinel.ended()?;
    drop(server);
    broker.tree.assert_as_found()
}

#[test]
fn a_drive_that_returns_is_put_back_while_the_server_runs() -> Result<()> {
    let (broker, server) = changed()?;
    let dir = broker.tree.path().join("sys/devices/system/cpu");
    let here = if dir.join("intel_pstate").exists() { dir.join("intel_pstate") } else { dir.join("cpufreq") };
    let away = dir.join("away");
    std::fs::rename(&here, &away)?;
    ensure!(!server.restore(false)?.is_complete());
    std::fs::rename(&away, &here)?;
    await_that("it is back", || {
        // Not because the server is silent.
        server.renew()?;
        Ok(broker.tree.changes()?.is_empty().then_some(()))
    })?;
    server.hang_up();
    broker.ended()?.assert_as_found()
}
