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
