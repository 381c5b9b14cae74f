//! From opening the page to a result.

use crate::{finished_run, open, start, tab_to};
use anyhow::{Result, ensure};
use tests::{Browser, Server, in_browser};
use thirtyfour::prelude::*;

/// Waits until the reading shows a number, and another one than before.
async fn number_changes(browser: &Browser) -> Result<()> {
    const READING: &str = "document.querySelector('[data-testid=reading]')?.dataset.value";
    browser.until(&format!("Number({READING}) > 0")).await?;
    let before = browser.eval(READING).await?;
    browser.until(&format!("Number({READING}) > 0 && {READING} !== {before}")).await
}

#[tokio::test]
async fn a_preset_runs_live_stops_and_leaves_a_result() -> Result<()> {
    let server = Server::start()?;
    in_browser("preset", async |browser| {
        open(browser, &server).await?;
        browser.fill("#target", &server.target().display().to_string()).await?;
        browser.see("[data-preset=cdm8]").await?.click().await?;
        browser.fill("#field-size", "64m").await?;
        browser.fill("#field-runtime", "1s").await?;
        browser.see_text("[data-testid=command]", "brakecheck preset cdm8").await?;
        browser.see("#start:enabled").await?.click().await?;
        browser.see("#stop").await?;
        browser.see("[data-testid=progress]").await?;
        browser.see("[data-testid=chart]").await?;
        browser.until("document.querySelectorAll('[data-testid=cell]').length === 12").await?;
        number_changes(browser).await?;
        number_changes(browser).await?;
        // The first pass is a warm-up; the second one's score stays in its cell.
        browser.until("Number(document.querySelector('[data-testid=cell]').dataset.value) > 0").await?;
        browser.see("#stop").await?.click().await?;
        browser.see("#start").await?;
        let runs = server.get("/runs").await?;
        ensure!(runs[0]["state"] == "stopped", "{runs}");
        ensure!(server.target().read_dir()?.next().is_none(), "the file is still there");
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn a_workload_of_ones_own_runs_as_it_is_written() -> Result<()> {
    let server = Server::start()?;
    in_browser("custom", async |browser| {
        open(browser, &server).await?;
        browser.fill("#target", &server.target().display().to_string()).await?;
        browser.see("#custom").await?.click().await?;
        for (field, text) in [("bs", "16k"), ("iodepth", "3"), ("size", "32m"), ("runtime", "700ms")] {
            browser.fill(&format!("#field-{field}"), text).await?;
        }
        browser.see_text("[data-testid=command]", "--bs 16k --iodepth 3 --size 32m --runtime 700ms").await?;
        browser.fill("#field-iodepth", "0").await?;
        browser.see_text("#field-iodepth-problem", "iodepth is 0").await?;
        browser.until("document.querySelector('#start').disabled").await?;
        browser.fill("#field-iodepth", "3").await?;
        browser.see("#start:enabled").await?.click().await?;
        browser.see("#stop").await?;
        number_changes(browser).await?;
        browser.see("#start").await?;
        let runs = server.get("/runs").await?;
        let label = runs[0]["headline"]["label"].as_str().unwrap_or_default();
        ensure!(runs[0]["state"] == "done" && label.contains("16k QD3"), "{runs}");
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn a_page_opened_or_reloaded_in_the_middle_shows_the_run() -> Result<()> {
    let server = Server::start()?;
    start(&server, "60s").await?;
    in_browser("reload", async |browser| {
        browser.goto(server.url()).await?;
        browser.see("#stop").await?;
        number_changes(browser).await?;
        browser.refresh().await?;
        browser.see("#stop").await?;
        number_changes(browser).await?;
        browser.see("#stop").await?.click().await?;
        browser.see("#start").await?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn a_finished_run_shows_its_conditions() -> Result<()> {
    let server = Server::start()?;
    let id = finished_run(&server).await?;
    in_browser("finished", async |browser| {
        open(browser, &server).await?;
        browser.goto(server.page(&format!("/runs/{id}"))).await?;
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        let kernel = kernel.split('-').next().unwrap_or_default().replace('.', "\\.");
        browser.see_text("body", &kernel).await?;
        browser.see_text("body", "99").await?;
        browser.see(&format!("[data-testid=export][href='/api/v1/runs/{id}/export']")).await?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn a_target_that_cannot_be_used_is_explained_where_it_was_typed() -> Result<()> {
    let server = Server::start()?;
    in_browser("refused", async |browser| {
        open(browser, &server).await?;
        browser.fill("#target", "/nowhere/at/all").await?;
        browser.see_text("[data-testid=error]", "no /nowhere/at/all").await
    })
    .await
}

#[tokio::test]
async fn the_keyboard_alone_starts_and_stops_a_run() -> Result<()> {
    let server = Server::start()?;
    in_browser("keyboard", async |browser| {
        open(browser, &server).await?;
        tab_to(browser, "#target").await?;
        browser.action_chain().key_down(Key::Control).send_keys("a").key_up(Key::Control).perform().await?;
        browser.action_chain().send_keys(server.target().display().to_string()).perform().await?;
        tab_to(browser, "#start").await?;
        browser.action_chain().send_keys(Key::Enter + "").perform().await?;
        browser.see("#stop").await?;
        number_changes(browser).await?;
        tab_to(browser, "#stop").await?;
        browser.action_chain().send_keys(Key::Enter + "").perform().await?;
        browser.see("#start").await?;
        Ok(())
    })
    .await
}
