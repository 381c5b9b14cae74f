//! From opening the page to a result.

use crate::{finished_run, open, start};
use anyhow::{Result, ensure};
use tests::{Browser, Server, in_browser};
use thirtyfour::prelude::*;

const READING: &str = "[data-testid=reading]";

/// Waits until the reading shows another number than now.
async fn number_changes(browser: &Browser) -> Result<()> {
    let text = browser.eval("document.querySelector('[data-testid=reading]').innerText").await?;
    browser
        .until(&format!(
            "/[1-9]/.test(document.querySelector('{READING}').innerText) \
             && document.querySelector('{READING}').innerText !== {text}"
        ))
        .await
}

#[tokio::test]
async fn a_preset_runs_live_stops_and_leaves_a_result() -> Result<()> {
    let server = Server::start()?;
    in_browser("preset", async |browser| {
        open(browser, &server).await?;
        browser.fill("#target", &server.target().display().to_string()).await?;
        browser.see("[data-preset=cdm8]").await?.click().await?;
        browser.see("#start:enabled").await?.click().await?;
        browser.see("#stop").await?;
        browser.see("[data-testid=progress]").await?;
        browser.see("[data-testid=chart]").await?;
        browser.until("document.querySelectorAll('[data-testid=cell]').length === 12").await?;
        number_changes(browser).await?;
        number_changes(browser).await?;
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
        browser.see(&format!("a[href='/api/v1/runs/{id}/export']")).await?;
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
        browser.see_text("body", "/nowhere/at/all.*(not|no) ").await?;
        browser.no_errors().await
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

/// Presses Tab until the element has the focus, visibly.
async fn tab_to(browser: &Browser, css: &str) -> Result<()> {
    for _ in 0..60 {
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
