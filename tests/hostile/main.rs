//! Hostile clients at both listeners while something is measured: none gets in, none learns a secret, none stops the
//! run.
//!
//! `BRAKECHECK_HOSTILE` is the number of requests (300 if absent); with 1,000 and more the run is also compared with
//! undisturbed ones. `BRAKECHECK_HOSTILE_SEED` repeats a sequence.

mod attack;
mod elsewhere;
mod site;
mod wire;

use anyhow::{Context, Result, ensure};
use attack::Attack;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use site::Site;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tests::{Server, Tree};

/// Clients at one time.
const CLIENTS: usize = 4;
/// A run is compared with undisturbed ones only if there are so many requests.
const MEASURED: usize = 1000;
/// Pause of a client meanwhile: ten thousand requests in all. The clients share the processors with what they attack, so
/// that without a pause their own work would be measured.
const PAUSE: Duration = Duration::from_micros(6500);
/// A drive of the laptop, and a serial number for it.
const DRIVE: &str = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1";
const SERIAL: &str = "S4EVNX0R123456";
/// What viewers must know.
const PASSWORD: &str = "correct horse battery";
/// Pairs of runs, an odd number.
const ROUNDS: usize = 9;
/// What it must reach then, in parts of the undisturbed one.
const LEAST: f64 = 0.95;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Everything that a client could have changed.
async fn state(server: &Server) -> Result<Value> {
    let mut files = BTreeSet::new();
    for dir in [server.state_dir(), server.target().to_owned()] {
        for entry in dir.read_dir()? {
            files.insert(entry?.path().display().to_string());
        }
    }
    let runs = server.get("/runs").await?;
    let ids: Vec<&Value> = runs.as_array().context("a list")?.iter().map(|r| &r["id"]).collect();
    let knobs = server.get("/knobs").await?;
    let values: Vec<_> = knobs["knobs"].as_array().context("a list")?.iter().map(|k| (&k["id"], &k["value"])).collect();
    Ok(json!({ "runs": ids, "experiments": server.get("/experiments").await?, "knobs": values, "files": files,
        "lan": server.get("/lan").await?["on"] }))
}

async fn start(server: &Server, runtime: &str) -> Result<String> {
    let run = json!({ "target": server.target(), "workloads": [
        { "rw": "randread", "bs": "4k", "iodepth": 4, "size": "16m", "runtime": runtime, "buffered": true }
    ] });
    Ok(server.post("/runs", &run).await?["id"].as_str().context("a run has an id")?.to_owned())
}

/// Sends so many requests, each client one after such a pause, or until `over`; the complaints. Counts in `next`.
fn attack(
    site: &Site,
    seed: u64,
    (requests, pause): (usize, Duration),
    next: &AtomicUsize,
    over: &AtomicBool,
) -> Vec<String> {
    std::thread::scope(|scope| {
        let client = |client: u64| {
            move || {
                let mut random = SplitMix64::seed_from_u64(seed.wrapping_add(client));
                let mut complaints = Vec::new();
                // Kept open to the end: they never finish what they say.
                let mut slow = Vec::new();
                while !over.load(Ordering::Relaxed) && next.fetch_add(1, Ordering::Relaxed) < requests {
                    std::thread::sleep(pause);
                    let attack = Attack::any(site, random.next_u64());
                    match wire::send(site, &attack, &mut slow) {
                        Ok(answer) => complaints.extend(attack.complaint(site, &answer)),
                        Err(e) => complaints.push(format!("{}: {e:#}", attack.name)),
                    }
                }
                complaints
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|n| scope.spawn(client(n as u64))).collect();
        clients.into_iter().flat_map(|c| c.join().unwrap_or_else(|_| vec!["a client failed".into()])).collect()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_in_and_the_run_goes_on() -> Result<()> {
    attacked(&[], true).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_in_where_viewers_need_a_password() -> Result<()> {
    attacked(&[], false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_in_where_all_is_encrypted() -> Result<()> {
    attacked(&["--lan-tls"], false).await
}

/// What is refused again and again must not fill the log.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_is_logged_once_by_each_listener() -> Result<()> {
    let server = Server::watched(std::path::Path::new("/"), &[])?;
    let client = reqwest::Client::new();
    let doors = [(server.page(""), "own.evil.example"), (server.viewers().await?, "lan.evil.example")];
    for (url, host) in &doors {
        for path in ["/", "/api/v1/runs", "/ws/bench", "/healthz"] {
            for _ in 0..8 {
                let request = client.get(format!("{url}{path}")).header("host", *host);
                let answer = request.header("origin", format!("http://{host}")).send().await?;
                ensure!(answer.status() == 403, "{path}: {}", answer.status());
            }
        }
    }
    let log = server.log()?;
    for (_, host) in doors {
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(host)).collect();
        ensure!(lines.len() == 1 && lines[0].contains("--allow-host"), "{lines:#?}");
    }
    Ok(())
}

/// A laptop on whose drive the server's directories lie.
fn laptop() -> Result<Tree> {
    let dev = std::fs::metadata(tests::scratch()?.path())?.dev();
    let dev = format!("/sys/dev/block/{}:{}", rustix::fs::major(dev), rustix::fs::minor(dev));
    Tree::laptop_with(&format!(
        "{DRIVE}/device/serial = {SERIAL}\n{dev} -> ../..{}\n",
        DRIVE.trim_start_matches("/sys")
    ))
}

/// Attacks a server with these options while it measures; with a password for viewers unless they come in without.
async fn attacked(options: &[&str], open: bool) -> Result<()> {
    let requests = usize::try_from(number("BRAKECHECK_HOSTILE").unwrap_or(300))?;
    let seed = number("BRAKECHECK_HOSTILE_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("seed {seed}");
    let tree = laptop()?;
    let secret = tempfile::NamedTempFile::new()?;
    std::fs::write(secret.path(), PASSWORD)?;
    let file = secret.path().to_str().context("a path in words")?;
    let mut options = options.to_vec();
    if !open {
        options.extend(["--viewer-password-file", file]);
    }
    let server = Server::watched(tree.path(), &options)?;
    let id = start(&server, "1h").await?;
    server.event(|f| f["type"] == "sample").await?;
    let record = server.get(&format!("/runs/{id}")).await?;
    ensure!(record["drive"]["serial"] == SERIAL, "there is no secret in it: {record:#}");
    let site = Site::of(&server, &id, (!open).then_some(PASSWORD), SERIAL).await?;
    let before = state(&server).await?;
    let enemy = site.clone();
    let all = move || attack(&enemy, seed, (requests, Duration::ZERO), &AtomicUsize::new(0), &AtomicBool::new(false));
    let complaints = tokio::task::spawn_blocking(all).await?;
    ensure!(complaints.is_empty(), "seed {seed}: {} of {requests}:\n{}", complaints.len(), complaints.join("\n"));
    // It still measures, and nothing was changed.
    server.event(|f| f["type"] == "sample").await?;
    let after = state(&server).await?;
    ensure!(before == after, "seed {seed}: {before:#}\nbecame {after:#}");
    ensure!(server.get(&format!("/runs/{id}")).await?["state"] == "running");
    server.delete(&format!("/runs/{id}")).await?;
    server.ended(&id).await?;
    // One that is let finish does.
    let id = start(&server, "50ms").await?;
    server.ended(&id).await?;
    ensure!(server.get(&format!("/runs/{id}")).await?["state"] == "done");
    tree.assert_as_found()?;
    if requests >= MEASURED && open {
        slowed(&server, site, seed).await?;
    }
    Ok(())
}

/// Runs under attack against runs that are not, in turn.
async fn slowed(server: &Server, site: Site, seed: u64) -> Result<()> {
    let (sent, mut ratios) = (Arc::new(AtomicUsize::new(0)), Vec::new());
    for round in 0..ROUNDS as u64 {
        let undisturbed = iops(server).await?;
        let over = Arc::new(AtomicBool::new(false));
        let (enemy, next, until) = (site.clone(), Arc::clone(&sent), Arc::clone(&over));
        let attackers =
            tokio::task::spawn_blocking(move || attack(&enemy, seed ^ round, (usize::MAX, PAUSE), &next, &until));
        let attacked = iops(server).await?;
        over.store(true, Ordering::Relaxed);
        let complaints = attackers.await?;
        ensure!(complaints.is_empty(), "seed {seed}: {}", complaints.join("\n"));
        ratios.push(attacked / undisturbed);
    }
    ratios.sort_by(f64::total_cmp);
    let (median, sent) = (ratios[ROUNDS / 2], sent.load(Ordering::Relaxed));
    println!(
        "IOPS under {sent} more requests against undisturbed: {ratios:.3?}, median {median:.3} (at least {LEAST})"
    );
    ensure!(median >= LEAST);
    Ok(())
}

async fn iops(server: &Server) -> Result<f64> {
    let id = start(server, "2s").await?;
    server.ended(&id).await?;
    let record = server.get(&format!("/runs/{id}")).await?;
    server.delete(&format!("/runs/{id}")).await?;
    record["results"][0]["read"]["iops"].as_f64().context("a run has a result")
}
