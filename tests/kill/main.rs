//! Sudden death of any process at any instant: settings come back.
//!
//! A server changes and puts back the settings of a small machine as fast as it can, one of its processes (or all) is
//! killed at a random instant, and what then puts back is waited for. `BRAKECHECK_KILL_ROUNDS` says how often; a
//! failure names its seed, which `BRAKECHECK_KILL_SEED` takes.

use anyhow::{Context, Result, ensure};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::process::Signal;
use serde_json::json;
use std::time::Duration;
use tests::{Process, Server, Tree};

/// Within this many microseconds, a batch of changes is begun and ended several times.
const SPAN: u64 = 150_000;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// A server with its broker and sentinel.
struct Family {
    server: Process,
    broker: Process,
    sentinel: Process,
}

impl Family {
    fn of(server: &Server) -> Result<Self> {
        let server = Process::of(server.id())?;
        let broker = Process::child(server.pid, "broker", None)?;
        let sentinel = Process::child(broker.pid, "sentinel", None)?;
        Ok(Self { server, broker, sentinel })
    }
}

/// Changes and puts back until dropped or refused.
async fn keep_changing(server: &Server) -> Result<()> {
    loop {
        server.post("/knobs", &json!({ "set": [{ "id": "cpu.deep-idle", "value": "POLL" }] })).await?;
        server.post("/knobs", &json!({ "profile": "saving" })).await?;
        server.post("/knobs", &json!({ "profile": "performance" })).await?;
        server.post("/restore", &json!({})).await?;
    }
}

/// The rounds of one test, each with its random instant.
async fn rounds(test: impl AsyncFn(&Tree, &mut Server, Family, u64) -> Result<()>) -> Result<()> {
    let seed = number("BRAKECHECK_KILL_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u64::from(now.subsec_nanos()) ^ now.as_secs() << 32
    });
    let mut random = SplitMix64::seed_from_u64(seed);
    let tree = Tree::laptop()?;
    for round in 0..number("BRAKECHECK_KILL_ROUNDS").unwrap_or(10) {
        let mut server = Server::below(tree.path())?;
        let family = Family::of(&server)?;
        server.post("/knobs", &json!({ "profile": "performance" })).await?;
        ensure!(!tree.changes()?.is_empty(), "nothing changes here: the test tests nothing");
        let instant = Duration::from_micros(random.next_u64() % SPAN);
        tokio::select! {
            refused = keep_changing(&server) => refused.context("the server is alive")?,
            () = tokio::time::sleep(instant) => {}
        }
        let done = test(&tree, &mut server, family, random.next_u64()).await.and_then(|()| tree.assert_as_found());
        done.with_context(|| format!("round {round} of seed {seed}"))?;
    }
    Ok(())
}

#[tokio::test]
async fn the_broker_puts_back_when_the_server_is_killed() -> Result<()> {
    rounds(async |_, _, family, _| {
        family.server.signal(Signal::KILL)?;
        family.broker.ended()?;
        family.sentinel.ended()
    })
    .await
}

#[tokio::test]
async fn the_sentinel_puts_back_when_the_broker_is_killed() -> Result<()> {
    rounds(async |tree, server, family, _| {
        family.broker.signal(Signal::KILL)?;
        family.sentinel.ended()?;
        tree.assert_as_found()?;
        // The server goes on, and says why nothing can be set any more.
        let refused = server.post("/knobs", &json!({ "profile": "saving" })).await;
        ensure!(refused.is_err_and(|e| e.to_string().contains("restart Brakecheck")), "it does not say what to do");
        ensure!(server.end(Signal::TERM)? == Some(0));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_broker_has_a_new_sentinel_when_that_is_killed() -> Result<()> {
    rounds(async |_, server, family, choice| {
        family.sentinel.signal(Signal::KILL)?;
        let next = Process::child(family.broker.pid, "sentinel", Some(family.sentinel.pid))?;
        // The new one is as good as the old.
        if choice % 2 == 0 {
            family.broker.signal(Signal::KILL)?;
        } else {
            ensure!(server.end(Signal::TERM)? == Some(0));
        }
        next.ended()
    })
    .await
}

#[tokio::test]
async fn the_next_start_puts_back_when_all_are_killed() -> Result<()> {
    rounds(async |tree, server, family, choice| {
        let all = [&family.server, &family.broker, &family.sentinel];
        let first = usize::try_from(choice % 3)?;
        for process in all.iter().cycle().skip(first).take(3) {
            process.signal(Signal::KILL)?;
        }
        for process in all {
            process.ended()?;
        }
        let mut next = server.again()?;
        tree.assert_as_found()?;
        ensure!(next.end(Signal::TERM)? == Some(0));
        Ok(())
    })
    .await
}
