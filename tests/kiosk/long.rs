//! The long form, `make kiosk`: restarts and cuts over hours, how long each lasts on the screen, and how large the tab
//! becomes.

use crate::back::{fresh, stale};
use crate::proxy::Network;
use crate::rotation::memory;
use crate::{found_elsewhere, measure, shows};
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use std::time::{Duration, Instant};
use tests::{Server, in_browser};
use tokio::net::TcpListener;

/// Restarts, and as many cuts.
const TIMES: u32 = 10;
/// How long the network is cut.
const CUT: Duration = Duration::from_secs(8);
/// The screen looks stale within this; the browser's driver takes part of it.
const STALE: Duration = Duration::from_millis(2250);
/// The screen is back within this.
const BACK: Duration = Duration::from_secs(5);

#[tokio::test]
async fn for_hours() -> Result<()> {
    let Some(minutes) = std::env::var("BRAKECHECK_KIOSK_MINUTES").ok().and_then(|m| m.parse::<u64>().ok()) else {
        eprintln!("skipped: `make kiosk` does it");
        return Ok(());
    };
    let pause = Duration::from_mins(minutes) / (2 * TIMES);
    let end = TcpListener::bind(("127.0.0.1", 0)).await?;
    let allowed = end.local_addr()?.to_string();
    let mut server = Server::with(&["--allow-host", &allowed])?;
    found_elsewhere(&server).await?;
    let port = server.page("").rsplit(':').next().context("it has a port")?.parse()?;
    let network = Network::new(end, port)?;
    in_browser("kiosk-long", async |browser| {
        let token = server.url().rsplit('#').next().unwrap_or_default().to_owned();
        browser.goto(format!("http://{allowed}/kiosk?dwell=5#{token}")).await?;
        shows(browser, "verdict").await?;
        let mut sizes = Vec::new();
        let (mut looked, mut backs) = (Vec::new(), Vec::new());
        for n in 0..2 * TIMES {
            let start = Instant::now();
            let id = measure(&server, "2s").await?;
            server.ended(&id).await?;
            shows(browser, "host").await?;
            tokio::time::sleep(pause.saturating_sub(start.elapsed() + CUT)).await;
            sizes.push(memory(browser).await?);
            let (began, kind);
            if n % 2 == 0 {
                (began, kind) = (Instant::now(), "restart");
                server.end(Signal::KILL)?;
                stale(browser).await?;
                looked.push(began.elapsed());
                server = server.again_with(&["--allow-host", &allowed])?;
            } else {
                (began, kind) = (Instant::now(), "cut");
                network.cut();
                stale(browser).await?;
                looked.push(began.elapsed());
                tokio::time::sleep(CUT).await;
                network.mend();
            }
            let back = fresh(browser).await?;
            eprintln!("{kind}: stale after {:?}, back after {back:?}, tab {:?}", looked.last(), sizes.last());
            backs.push(back);
        }
        // The first turn loads what later ones use.
        let heaps: Vec<f64> = sizes.iter().skip(1).map(|s| s.0).collect();
        let (first, last) = (heaps.first().context("a size")?, heaps.last().context("a size")?);
        let (slowest, longest) = (looked.iter().max().context("a time")?, backs.iter().max().context("a time")?);
        eprintln!(
            "stale at most after {slowest:?}, back at most after {longest:?}, heap {first} and at last {last} bytes"
        );
        ensure!(*slowest <= STALE && *longest <= BACK, "stale after {slowest:?}, back after {longest:?}");
        ensure!(*last <= 1.1 * first, "the tab grew: {sizes:?}");
        Ok(())
    })
    .await
}
