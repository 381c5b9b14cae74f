//! One run with a crowd, one without, again and again.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tests::{Process, Server};

/// Seconds of each run.
const RUNTIME: f64 = 2.0;
/// The file that is read.
const SIZE: usize = 256 << 20;

/// Names of the threads that serve begin so.
const SERVING: &str = "http";

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Through the page cache, 32 in flight: completes within the submit call, so that it shows what disturbs it.
    Cached,
    /// The same, one at a time.
    Single,
    /// From the disk.
    Disk,
}

/// One run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measured {
    pub(crate) iops: f64,
    /// CPU time of the server's threads that serve, of one core.
    pub(crate) cpu: f64,
    /// Frames a second that a viewer got.
    pub(crate) frames: f64,
}

/// Runs with a crowd against runs without.
pub(crate) struct Pair {
    pub(crate) without: f64,
    pub(crate) with: f64,
    /// Median of the ratios of neighbours.
    pub(crate) ratio: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// Medians of the runs with a crowd.
    pub(crate) crowded: Measured,
}

/// A file of random bytes in this directory.
pub(crate) fn file(dir: &Path) -> Result<PathBuf> {
    let path = dir.join("random");
    let mut random = std::fs::File::open("/dev/urandom")?.take(SIZE as u64);
    let mut file = std::fs::File::create(&path)?;
    std::io::copy(&mut random, &mut file)?;
    file.sync_all()?;
    Ok(path)
}

/// Measures in turn.
pub(crate) async fn pair(
    server: &Server,
    file: &Path,
    kind: Kind,
    rounds: usize,
    number: usize,
    aside: bool,
    mute: bool,
) -> Result<Pair> {
    let (mut alone, mut crowded) = (Vec::new(), Vec::new());
    // The first pair warms up.
    for round in 0..=rounds {
        let without = run(server, file, kind, None).await?;
        let crowd = Crowd::come(server, number, aside, mute).await?;
        let with = run(server, file, kind, Some(crowd)).await?;
        if round > 0 {
            alone.push(without.iops);
            crowded.push(with);
        }
    }
    let ratios: Vec<f64> = crowded.iter().zip(&alone).map(|(c, a)| c.iops / a).collect();
    let of = |read: fn(&Measured) -> f64| median(crowded.iter().map(read));
    Ok(Pair {
        without: median(alone.iter().copied()),
        with: of(|m| m.iops),
        ratio: median(ratios.iter().copied()),
        least: ratios.iter().copied().fold(f64::MAX, f64::min),
        most: ratios.iter().copied().fold(0.0, f64::max),
        crowded: Measured { iops: of(|m| m.iops), cpu: of(|m| m.cpu), frames: of(|m| m.frames) },
    })
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

async fn run(server: &Server, file: &Path, kind: Kind, crowd: Option<Crowd>) -> Result<Measured> {
    let (depth, buffered) = match kind {
        Kind::Cached => (32, true),
        Kind::Single => (1, true),
        Kind::Disk => (1, false),
    };
    if buffered {
        std::io::copy(&mut std::fs::File::open(file)?, &mut std::io::sink())?;
    }
    let spec = json!({ "target": file, "workloads": [{
        "rw": "randread", "bs": "4k", "iodepth": depth, "buffered": buffered, "invalidate": 0, "size": SIZE,
        "runtime": RUNTIME,
    }] });
    let process = Process::of(server.id())?;
    let (before, began) = (process.cpu_seconds(SERVING)?, Instant::now());
    let created = server.post("/runs", &spec).await?;
    let id = created["id"].as_str().context("a run has an id")?;
    // Whoever waits for the end is a viewer too: come when the measuring is over.
    tokio::time::sleep(Duration::from_secs_f64(RUNTIME)).await;
    let (cpu, took) = (process.cpu_seconds(SERVING)? - before, began.elapsed().as_secs_f64());
    server.ended(id).await?;
    let number = crowd.as_ref().map_or(1, |c| c.number);
    let frames = crowd.map(Crowd::go).transpose()?.unwrap_or_default();
    let record: Value = server.get(&format!("/runs/{id}")).await?;
    server.delete(&format!("/runs/{id}")).await?;
    let iops = record["results"][0]["read"]["iops"].as_f64().context("a run has a result")?;
    Ok(Measured { iops, cpu: cpu / took, frames: frames as f64 / number as f64 / took })
}

/// The crowd's process.
struct Crowd {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    number: usize,
}

impl Crowd {
    /// Starts it and waits until all are there.
    async fn come(server: &Server, number: usize, aside: bool, mute: bool) -> Result<Self> {
        let address = server.viewers().await?.trim_start_matches("http://").to_owned();
        let program = std::env::current_exe()?;
        let mut command = if aside {
            // The engine takes processors from the highest number down.
            let mut command = Command::new("taskset");
            command.args(["-c", "0"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        let mut child = command
            .args(["crowd", &address, &number.to_string(), if mute { "mute" } else { "live" }])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut out = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut line = String::new();
        out.read_line(&mut line)?;
        ensure!(line.trim() == "ready", "the crowd did not come: {line}");
        Ok(Self { child, out, number })
    }

    /// Sends it away; the frames that it got.
    fn go(mut self) -> Result<u64> {
        let mut stdin = self.child.stdin.take().context("stdin is piped")?;
        // Its end is what the crowd waits for; something to read wakes it up in any case.
        stdin.write_all(b"\n")?;
        drop(stdin);
        let mut text = String::new();
        self.out.read_to_string(&mut text)?;
        self.child.wait()?;
        text.trim().parse().with_context(|| format!("the crowd said: {text}"))
    }
}
