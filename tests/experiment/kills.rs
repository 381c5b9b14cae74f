//! Sudden death at any instant of an experiment: settings come back, no trial is lost that a viewer has seen end, and
//! the experiment goes on where it stood.
//!
//! An experiment runs in a server, one of whose processes (or all) is killed at a random instant between before the
//! first trial and after the last. `BRAKECHECK_KILL_ROUNDS` says how often each; a failure names its seed, which
//! `BRAKECHECK_KILL_SEED` takes.

use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use protocol::experiment::Trial;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tests::{Process, Server, Tree};
use tokio::task::JoinHandle;

/// Trials that count, at the end: three configurations in four blocks.
const TRIALS: usize = 3 * 4;

/// Who dies.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Server,
    Broker,
    Sentinel,
    All,
}

fn experiment(target: &std::path::Path) -> Value {
    json!({
        "design": "one-at-a-time", "from": "all-performance", "knobs": ["cpu.turbo", "cpu.epb"], "target": target,
        "min_blocks": 4, "max_blocks": 4, "seed": 1,
        "workloads": [{ "name": "single", "rw": "randread", "size": "4m", "runtime": "100ms", "ramp_time": "10ms" }],
    })
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The trials that a viewer sees end, until its line is cut.
async fn watch(server: &Server) -> Result<JoinHandle<Vec<Trial>>> {
    let mut frames = server.frames().await?;
    Ok(tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(Ok(frame)) = frames.next().await {
            let frame: Value = serde_json::from_str(&frame).unwrap_or_default();
            if frame["type"] == "trial-finished" {
                seen.extend(serde_json::from_value::<Trial>(frame["trial"].clone()));
            }
        }
        seen
    }))
}

/// Waits until an experiment has ended.
pub(crate) async fn ended(server: &Server, id: &str) -> Result<()> {
    let over = |f: &Value| match f["type"].as_str() {
        Some("snapshot") => f["experiment"]["head"]["id"] == id && f["experiment"]["state"] != "running",
        Some("experiment-finished") => f["experiment"] == id,
        _ => false,
    };
    server.event(over).await.map(drop)
}

/// Runs the experiment to its end.
async fn whole(server: &Server) -> Result<()> {
    let started = server.post("/experiments?patience=0s", &experiment(server.target())).await?;
    ended(server, started["id"].as_str().context("it has an id")?).await
}

async fn trials(server: &Server, id: &str) -> Result<Vec<Trial>> {
    let file = server.get(&format!("/experiments/{id}")).await?;
    Ok(serde_json::from_value(file["trials"].clone())?)
}

/// Kills, and waits until whoever is left has put everything back. Returns the server that is alive then.
fn kill(mut server: Server, victim: Victim, order: usize) -> Result<Server> {
    let own = Process::of(server.id())?;
    let broker = Process::child(own.pid, "broker", None)?;
    let sentinel = Process::child(broker.pid, "sentinel", None)?;
    match victim {
        Victim::Server => {
            own.signal(Signal::KILL)?;
            broker.ended()?;
            sentinel.ended()?;
        }
        Victim::Broker => {
            broker.signal(Signal::KILL)?;
            sentinel.ended()?;
            // Without a broker it can only end.
            server.end(Signal::TERM)?;
        }
        Victim::Sentinel => {
            sentinel.signal(Signal::KILL)?;
            Process::child(broker.pid, "sentinel", Some(sentinel.pid))?;
            return Ok(server);
        }
        Victim::All => {
            let all = [&own, &broker, &sentinel];
            for process in all.iter().cycle().skip(order).take(3) {
                process.signal(Signal::KILL)?;
            }
            for process in all {
                process.ended()?;
            }
            return server.again();
        }
    }
    let next = server.again();
    drop(server);
    next
}

/// One round: an experiment, a death at that instant, and everything as it should be.
async fn round(victim: Victim, instant: Duration, order: usize) -> Result<()> {
    let tree = Tree::laptop()?;
    let server = Server::below(tree.path())?;
    let seen = watch(&server).await?;
    let finished = tokio::select! {
        done = whole(&server) => done.map(|()| true)?,
        () = tokio::time::sleep(instant) => false,
    };
    let mut server = kill(server, victim, order)?;
    let list = server.get("/experiments").await?;
    let id = list[0]["id"].as_str();
    match (victim, id) {
        // The experiment knows nothing of it, and goes on to its end.
        (Victim::Sentinel, Some(id)) => ended(&server, id).await?,
        (Victim::Sentinel, None) => {}
        _ => tree.assert_as_found().context("after the death")?,
    }
    let after = match id {
        Some(id) => to_its_end(&server, id, finished).await?,
        None => Vec::new(),
    };
    ensure!(server.end(Signal::TERM)? == Some(0));
    tree.assert_as_found().context("at the end")?;
    let seen = seen.await?;
    ensure!(id.is_some() || !finished, "the experiment is lost");
    // One that was measured anew is not equal.
    ensure!(seen.iter().all(|t| after.contains(t)), "trials are lost: {seen:#?} of {after:#?}");
    Ok(())
}

/// Has the experiment go on, unless it is done. Returns its trials.
async fn to_its_end(server: &Server, id: &str, finished: bool) -> Result<Vec<Trial>> {
    let before = trials(server, id).await?;
    let state = server.get("/experiments").await?[0]["state"].clone();
    ensure!(state != "running", "it is still said to run");
    if state != "done" {
        ensure!(!finished, "it had ended, and is {state}");
        server.post(&format!("/experiments/{id}/resume?patience=0s"), &json!({})).await?;
        ended(server, id).await?;
    }
    let after = trials(server, id).await?;
    ensure!(after.starts_with(&before), "trials are lost: {before:#?} of {after:#?}");
    let counted = after.iter().filter(|t| t.void.is_none()).count();
    ensure!(counted == TRIALS, "{counted} trials count at the end");
    ensure!(server.get("/experiments").await?[0]["state"] == "done");
    Ok(after)
}

async fn rounds(victim: Victim) -> Result<()> {
    let seed = number("BRAKECHECK_KILL_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u64::from(now.subsec_nanos()) ^ now.as_secs() << 32
    });
    let mut random = SplitMix64::seed_from_u64(seed);
    let whole_time = {
        let tree = Tree::laptop()?;
        let server = Server::below(tree.path())?;
        let began = Instant::now();
        whole(&server).await?;
        began.elapsed()
    };
    let span = u64::try_from(whole_time.as_micros())? * 11 / 10;
    let rounds = number("BRAKECHECK_KILL_ROUNDS").unwrap_or(1);
    for number in 0..rounds {
        let instant = Duration::from_micros(random.next_u64() % span);
        let order = usize::try_from(random.next_u64() % 3)?;
        let done = round(victim, instant, order).await;
        done.with_context(|| format!("{victim:?} killed after {instant:?}, round {number} of seed {seed}"))?;
    }
    println!("{victim:?}: {rounds} of {rounds} rounds right, seed {seed}");
    Ok(())
}

/// Starts an experiment of some minutes and waits for a trial to end.
pub(crate) async fn begun(server: &Server, knobs: &[&str]) -> Result<String> {
    let mut spec = experiment(server.target());
    spec["knobs"] = json!(knobs);
    spec["max_blocks"] = json!(1000);
    let id = server.post("/experiments?patience=0s", &spec).await?;
    server.event(|f| f["type"] == "trial-finished").await?;
    Ok(id["id"].as_str().context("it has an id")?.to_owned())
}

#[tokio::test]
async fn an_experiment_goes_on_when_its_server_comes_back() -> Result<()> {
    let tree = Tree::laptop()?;
    let mut server = Server::below(tree.path())?;
    let id = begun(&server, &["cpu.turbo", "cpu.epb"]).await?;
    for signal in [Signal::KILL, Signal::TERM] {
        server.end(signal)?;
        let before = server.resuming()?;
        let on = |f: &Value| {
            f["type"] == "snapshot" && f["experiment"]["state"] == "running" || f["type"] == "experiment-started"
        };
        before.event(on).await?;
        ensure!(trials(&before, &id).await?.first().is_some_and(|t| t.number == 0), "its trials are lost");
        server = before;
    }
    // What the user has stopped stays stopped.
    server.delete(&format!("/experiments/{id}")).await?;
    ended(&server, &id).await?;
    server.end(Signal::TERM)?;
    let mut last = server.resuming()?;
    ensure!(last.get("/experiments").await?[0]["state"] == "stopped");
    ensure!(last.end(Signal::TERM)? == Some(0));
    tree.assert_as_found()
}

#[tokio::test]
async fn an_experiment_survives_the_death_of_its_server() -> Result<()> {
    rounds(Victim::Server).await
}

#[tokio::test]
async fn an_experiment_survives_the_death_of_its_broker() -> Result<()> {
    rounds(Victim::Broker).await
}

#[tokio::test]
async fn an_experiment_survives_the_death_of_its_sentinel() -> Result<()> {
    rounds(Victim::Sentinel).await
}

#[tokio::test]
async fn an_experiment_survives_the_death_of_all() -> Result<()> {
    rounds(Victim::All).await
}
