//! The page in a real browser, served by the real program, measuring a real disk.

mod brakes;
mod experiment;
mod look;
mod measure;
mod power;
mod reconnect;
mod report;
mod results;
mod viewers;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tests::{Browser, Server};
use thirtyfour::prelude::*;

/// Bytes that the page's program may take on its way to a browser.
const WEIGHT: usize = 350 * 1024;

#[tokio::test]
async fn the_page_stays_light() -> Result<()> {
    let wasm = Server::start()?.wasm("identity").await?;
    // As the server's build compresses it.
    let parameters = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 24, ..Default::default() };
    let mut compressed = Vec::new();
    let weight = brotli::BrotliCompress(&mut wasm.as_slice(), &mut compressed, &parameters)?;
    ensure!(weight <= WEIGHT, "the page's WebAssembly is {weight} bytes compressed, {} too many", weight - WEIGHT);
    Ok(())
}

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

/// Presses Tab until the element has the focus, visibly.
async fn tab_to(browser: &Browser, css: &str) -> Result<()> {
    for _ in 0..200 {
        if browser.eval(&format!("document.activeElement.matches('{css}')")).await? == true {
            let style = format!("getComputedStyle(document.querySelector('{css}'))");
            let visible = format!("{style}.outlineStyle !== 'none' || {style}.boxShadow !== 'none'");
            ensure!(browser.eval(&visible).await? == true, "the focus on {css} cannot be seen");
            return Ok(());
        }
        browser.action_chain().send_keys(Key::Tab + "").perform().await?;
    }
    anyhow::bail!("{css} cannot be reached with Tab")
}
