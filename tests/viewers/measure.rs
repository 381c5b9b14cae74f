//! One long run, during which a crowd comes and goes.
//!
//! Runs differ from each other by more than a crowd costs: by where their memory lies, and by what else the machine
//! does. Neighbouring windows of one run do not.

use anyhow::{Context, Result, ensure};
use protocol::sample::Sample;
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tests::{Process, Server};

/// Seconds of the run, which is stopped once it has been measured.
const RUNTIME: u32 = 3600;
/// Time of each window.
const WINDOW: Duration = Duration::from_secs(2);
/// Time between a window and a crowd's coming or going.
const EDGE: Duration = Duration::from_millis(500);
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

/// Windows with a crowd against windows without; medians.
pub(crate) struct Pair {
    pub(crate) without: f64,
    pub(crate) with: f64,
    /// Of neighbours.
    pub(crate) ratio: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// CPU time of the server's threads that serve, of one core, with the crowd.
    pub(crate) cpu: f64,
    /// Frames a second that each viewer got.
    pub(crate) frames: f64,
}

/// A file of random bytes in this directory.
pub(crate) fn file(dir: &Path) -> Result<PathBuf> {
    let path = dir.join("random");
    let mut random = File::open("/dev/urandom")?.take(SIZE as u64);
    let mut file = File::create(&path)?;
    std::io::copy(&mut random, &mut file)?;
    file.sync_all()?;
    Ok(path)
}

/// Measures with and without a crowd in turn: A B, B A, A B...
pub(crate) async fn pair(
    server: &Server,
    file: &Path,
    kind: Kind,
    rounds: usize,
    number: usize,
    aside: bool,
    mute: bool,
) -> Result<Pair> {
    let run = Run::start(server, file, kind).await?;
    let (mut crowd, mut windows, mut frames) = (None, Vec::new(), Vec::new());
    // The first pair warms up.
    for round in 0..=rounds {
        for crowded in [round % 2 == 1, round % 2 == 0] {
            match (&crowd, crowded) {
                (None, true) => crowd = Some(Crowd::come(server, number, aside, mute).await?),
                (Some(_), false) => frames.extend(crowd.take().map(Crowd::go).transpose()?),
                _ => {}
            }
            windows.push(run.window(crowded).await?);
        }
    }
    frames.extend(crowd.map(Crowd::go).transpose()?);
    let samples = run.end().await?;
    let iops: Vec<f64> = windows.iter().map(|w| w.iops(&samples)).collect();
    let ratios: Vec<f64> = windows.chunks(2).zip(iops.chunks(2)).skip(1).map(|(w, iops)| w[0].ratio(iops)).collect();
    let of = |crowded| {
        let chosen = windows.iter().zip(&iops).skip(2).filter(move |(w, _)| w.crowded == crowded);
        median(chosen.map(|(_, iops)| *iops))
    };
    Ok(Pair {
        without: of(false),
        with: of(true),
        ratio: median(ratios.iter().copied()),
        least: ratios.iter().copied().fold(f64::MAX, f64::min),
        most: ratios.iter().copied().fold(0.0, f64::max),
        cpu: median(windows.iter().skip(2).filter(|w| w.crowded).map(|w| w.cpu)),
        frames: median(frames.into_iter()),
    })
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The long run.
struct Run<'a> {
    server: &'a Server,
    process: Process,
    id: String,
    /// When its first access was.
    began: Instant,
}

/// A part of it.
struct Window {
    crowded: bool,
    /// Since the first access.
    from: Duration,
    to: Duration,
    cpu: f64,
}

impl<'a> Run<'a> {
    async fn start(server: &'a Server, file: &Path, kind: Kind) -> Result<Self> {
        let (depth, buffered) = match kind {
            Kind::Cached => (32, true),
            Kind::Single => (1, true),
            Kind::Disk => (1, false),
        };
        if buffered {
            std::io::copy(&mut File::open(file)?, &mut std::io::sink())?;
        }
        let spec = json!({ "target": file, "workloads": [{
            "rw": "randread", "bs": "4k", "iodepth": depth, "buffered": buffered, "invalidate": 0, "size": SIZE,
            "runtime": RUNTIME,
        }] });
        let created = server.post("/runs", &spec).await?;
        let id = created["id"].as_str().context("a run has an id")?.to_owned();
        let first = server.event(|frame| frame["type"] == "sample").await?;
        let now = Instant::now();
        let t_ms = first["t_ms"].as_f64().context("a sample has a time")?;
        let began = now.checked_sub(Duration::from_secs_f64(t_ms / 1e3)).context("the clock began before the run")?;
        Ok(Self { server, process: Process::of(server.id())?, id, began })
    }

    /// Whoever watches the run is a viewer too: here nobody does, and its samples are read when it is over.
    async fn window(&self, crowded: bool) -> Result<Window> {
        tokio::time::sleep(EDGE).await;
        let (from, before) = (self.began.elapsed(), self.process.cpu_seconds(SERVING)?);
        tokio::time::sleep(WINDOW).await;
        let (to, after) = (self.began.elapsed(), self.process.cpu_seconds(SERVING)?);
        Ok(Window { crowded, from, to, cpu: (after - before) / to.saturating_sub(from).as_secs_f64() })
    }

    /// Stops it; its samples.
    async fn end(self) -> Result<Vec<Sample>> {
        let path = format!("/runs/{}", self.id);
        self.server.delete(&path).await?;
        self.server.ended(&self.id).await?;
        let samples = self.server.get(&format!("{path}/samples")).await?;
        self.server.delete(&path).await?;
        Ok(serde_json::from_value(samples)?)
    }
}

impl Window {
    /// From those samples that lie within it.
    fn iops(&self, samples: &[Sample]) -> f64 {
        let (from, to) = (self.from.as_secs_f64() * 1e3, self.to.as_secs_f64() * 1e3);
        let inside = samples.iter().filter(|s| s.t_ms - s.dt_ms >= from && s.t_ms <= to);
        let (ios, ms) = inside.fold((0, 0.0), |(ios, ms), s| (ios + s.read.ios, ms + s.dt_ms));
        ios as f64 / ms * 1e3
    }

    /// With a crowd against without, of this one and the next.
    fn ratio(&self, iops: &[f64]) -> f64 {
        if self.crowded { iops[0] / iops[1] } else { iops[1] / iops[0] }
    }
}

/// The crowd's process.
struct Crowd {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    number: usize,
    came: Instant,
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
        Ok(Self { child, out, number, came: Instant::now() })
    }

    /// Sends it away; the frames a second that each of it got.
    fn go(mut self) -> Result<f64> {
        let time = self.came.elapsed().as_secs_f64();
        let mut stdin = self.child.stdin.take().context("stdin is piped")?;
        // Its end is what the crowd waits for; something to read wakes it up in any case.
        stdin.write_all(b"\n")?;
        drop(stdin);
        let mut text = String::new();
        self.out.read_to_string(&mut text)?;
        self.child.wait()?;
        let frames: u64 = text.trim().parse().with_context(|| format!("the crowd said: {text}"))?;
        Ok(frames as f64 / self.number as f64 / time)
    }
}
