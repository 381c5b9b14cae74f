//! `make viewers`: what a crowd of viewers costs a measurement.
//!
//! Windows of one run with and without viewers in turn, medians: 200 live viewers at 20 frames a second, then 1,000
//! connections that never read. The crowd is a process of its own that reads and throws away, so that its own CPU
//! time can be kept off the engine's processor. Exit code 1 when a bar is missed.

mod crowd;
mod measure;

use anyhow::{Result, bail};
use measure::{Kind, Pair};
use std::process::ExitCode;
use tests::{Process, Server};

/// Live viewers.
const LIVE: usize = 200;
/// Connections that never read.
const MUTE: usize = 1000;
/// What the server may need for those, in MiB: of each viewer the queue and what the kernel holds for it.
const MEMORY_MIB: f64 = 256.0;

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["crowd", address, number, kind] => {
            crowd::run(address, number.parse()?, *kind == "mute").map(|()| ExitCode::SUCCESS)
        }
        [] => figures(9).await,
        ["--rounds", rounds] => figures(rounds.parse()?).await,
        _ => bail!("viewers, or viewers --rounds NUMBER"),
    }
}

async fn figures(rounds: usize) -> Result<ExitCode> {
    let server = Server::with(&["--lan", "127.0.0.1:0"])?;
    let file = measure::file(server.target())?;
    let mut all = true;
    let mut told = |figure: &str, value: f64, bar: f64, least: bool, detail: String| {
        let passed = if least { value >= bar } else { value <= bar };
        let sign = if least { ">=" } else { "<=" };
        println!("{figure:<62} {value:>7.3} {sign} {bar:<6} {}  {detail}", if passed { "pass" } else { "MISSED" });
        all &= passed;
    };
    let ratio =
        |p: &Pair| format!("{:.0} of {:.0} IOPS; single pairs {:.2} to {:.2}", p.with, p.without, p.least, p.most);
    for (kind, what) in
        [(Kind::Cached, "page-cached 4K QD32"), (Kind::Single, "page-cached 4K QD1"), (Kind::Disk, "this disk, 4K QD1")]
    {
        let pair = measure::pair(&server, &file, kind, rounds, LIVE, false, false).await?;
        told(&format!("{what}: IOPS with {LIVE} viewers against none"), pair.ratio, 0.97, true, ratio(&pair));
        let detail = format!("{:.1} frames a second for each viewer", pair.frames);
        told("  the server's CPU time for them, of one core", pair.cpu, 0.25, false, detail);
    }
    let pair = measure::pair(&server, &file, Kind::Cached, rounds, LIVE, true, false).await?;
    told("the same, viewers off the engine's processor", pair.ratio, 0.99, true, ratio(&pair));
    let before = Process::of(server.id())?.peak_mib()?;
    let pair = measure::pair(&server, &file, Kind::Cached, rounds, MUTE, false, true).await?;
    told(&format!("{MUTE} connections that never read: IOPS against none"), pair.ratio, 0.97, true, ratio(&pair));
    let after = Process::of(server.id())?.peak_mib()?;
    told("  the server's peak memory, MiB", after, MEMORY_MIB, false, format!("{before:.0} MiB before them"));
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
