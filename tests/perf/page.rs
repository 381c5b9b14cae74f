//! What the page weighs, how soon it shows a number, and what a viewer costs.

use crate::file::Cached;
use crate::tool::median;
use crate::{Bar, Plan, Row};
use anyhow::{Context, Result};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tests::{Browser, Server, in_browser};

pub(crate) async fn rows(plan: &Plan, file: &Cached) -> Result<Vec<Row>> {
    let server = Server::start()?;
    let mut rows = vec![weight(&server).await?];
    let mut starts = Vec::new();
    in_browser("perf", async |browser: &Browser| {
        browser.goto(server.url()).await?;
        // The token has been exchanged when the page shows.
        browser.see("#start").await?;
        for _ in 0..plan.rounds {
            starts.push(first_number(browser, &server).await?);
        }
        Ok(())
    })
    .await?;
    // The browser is closed by now: on the machine under test it would take CPU time for drawing, which says nothing of
    // what the program does for a viewer. The viewer here reads every frame and draws nothing.
    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    for round in 0..=plan.rounds {
        let without = iops(&server, plan, file, false).await?;
        let with = iops(&server, plan, file, true).await?;
        if round > 0 {
            alone.push(without);
            watched.push(with);
        }
    }
    let start = median(starts.into_iter());
    rows.push(Row {
        figure: "page: first live number after Start, s".into(),
        theirs: String::new(),
        ours: format!("{start:.2}"),
        value: start,
        bar: Bar::AtMost(0.5),
    });
    let (alone, watched) = (median(alone.into_iter()), median(watched.into_iter()));
    rows.push(Row {
        figure: "page-cached 4K randread QD32: IOPS, a viewer against none".into(),
        theirs: format!("none {alone:.0}"),
        ours: format!("{watched:.0}"),
        value: watched / alone,
        bar: Bar::AtLeast(0.99),
    });
    rows.iter().for_each(Row::print);
    Ok(rows)
}

/// Bytes of WebAssembly that a browser loads.
async fn weight(server: &Server) -> Result<Row> {
    let kib = server.wasm("br").await?.len() as f64 / 1024.0;
    Ok(Row {
        figure: "page: wasm after brotli, KiB".into(),
        theirs: String::new(),
        ours: format!("{kib:.0}"),
        value: kib,
        bar: Bar::AtMost(350.0),
    })
}

/// Seconds from the click on Start until the reading shows a number other than zero.
async fn first_number(browser: &Browser, server: &Server) -> Result<f64> {
    browser.goto(server.page("/")).await?;
    browser.see("#start").await?;
    browser.fill("#target", &server.target().display().to_string()).await?;
    browser.see("#start:enabled").await?;
    let seconds = browser
        .execute_async(
            "const done = arguments[arguments.length - 1];
             const reading = () => document.querySelector('[data-testid=reading]')?.dataset.value;
             const before = reading();
             const start = performance.now();
             document.querySelector('#start').click();
             const look = () => Number(reading()) > 0 && reading() !== before
                 ? done((performance.now() - start) / 1000) : requestAnimationFrame(look);
             look();",
            vec![],
        )
        .await?
        .json()
        .as_f64()
        .context("a time")?;
    browser.see("#stop").await?.click().await?;
    browser.see("#start").await?;
    Ok(seconds)
}

async fn iops(server: &Server, plan: &Plan, file: &Cached, watched: bool) -> Result<f64> {
    file.warm()?;
    let run = json!({ "target": file.path(), "workloads": [{
        "rw": "randread", "bs": "4k", "iodepth": 32, "buffered": true, "invalidate": 0,
        "runtime": plan.runtime.as_secs_f64(),
    }] });
    let created = server.post("/runs", &run).await?;
    let id = created["id"].as_str().context("a run has an id")?;
    let viewer = if watched { Some(tokio::spawn(server.frames().await?.for_each(async |_| ()))) } else { None };
    // Whoever waits for the end is a viewer too: come when the measuring is over.
    tokio::time::sleep(plan.runtime).await;
    server.ended(id).await?;
    if let Some(viewer) = viewer {
        viewer.abort();
    }
    let record: Value = server.get(&format!("/runs/{id}")).await?;
    record["results"][0]["read"]["iops"].as_f64().context("a run has a result")
}
