//! The page in a real browser, served by the real program, measuring a real disk.

mod look;
mod measure;
mod reconnect;
mod results;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tests::{Browser, Server};

/// Opens the page with the token and waits until it is connected.
async fn open(browser: &Browser, server: &Server) -> Result<()> {
    browser.goto(server.url()).await?;
    browser.see("#start").await?;
    browser.until("!location.hash.includes('token')").await
}

/// Starts a run of one workload through the API; returns its id.
async fn start(server: &Server, runtime: &str) -> Result<String> {
    let run = json!({ "target": server.target(), "workloads": [
        { "rw": "randread", "bs": "4k", "iodepth": 8, "size": "32m", "runtime": runtime }
    ] });
    id(&server.post("/runs", &run).await?)
}

/// A short run to its end; returns its id.
async fn finished_run(server: &Server) -> Result<String> {
    let id = start(server, "300ms").await?;
    server.ended(&id).await?;
    Ok(id)
}

fn id(created: &Value) -> Result<String> {
    Ok(created["id"].as_str().context("a run has an id")?.to_owned())
}
