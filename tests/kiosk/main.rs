//! The kiosk screen in a real browser: what it shows, how it looks from afar, and that it comes back by itself.

mod back;
mod command;
mod long;
mod panels;
mod proxy;
mod rotation;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tests::{Browser, Server};

/// Lets the browser in as the operator, and opens the screen.
async fn open(browser: &Browser, server: &Server, query: &str) -> Result<()> {
    browser.goto(server.url()).await?;
    browser.until("!location.hash.includes('token')").await?;
    browser.see("#start").await?;
    browser.goto(server.page(&format!("/kiosk?{query}"))).await?;
    browser.see(".kiosk").await.map(drop)
}

/// Waits until the screen shows this panel.
async fn shows(browser: &Browser, panel: &str) -> Result<()> {
    browser.until(&format!("document.querySelector('.kiosk').dataset.panel === '{panel}'")).await
}

/// Starts a run of one workload; returns its id.
async fn measure(server: &Server, runtime: &str) -> Result<String> {
    let run = json!({ "target": server.target(), "workloads": [
        { "rw": "randread", "bs": "4k", "iodepth": 8, "size": "32m", "runtime": runtime }
    ] });
    id(&server.post("/runs", &run).await?)
}

fn id(created: &Value) -> Result<String> {
    Ok(created["id"].as_str().context("it has an id")?.to_owned())
}

/// Stores an experiment that was run elsewhere.
async fn found_elsewhere(server: &Server) -> Result<()> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/tests/server/testdata/experiment.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    server.post("/experiments/import", &file).await.map(drop)
}
