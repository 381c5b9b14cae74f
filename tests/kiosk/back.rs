//! Server and network go away and come back; the screen says so and never goes blank.

use crate::proxy::Network;
use crate::{measure, open, shows};
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};
use tests::{Browser, PATIENCE, Process, Server, in_browser};
use tokio::net::TcpListener;

/// Has the page itself note, at every look, what must never be: another document, or an empty one.
async fn watch_for_blanks(browser: &Browser) -> Result<()> {
    let script = "window.watched = true; window.blank = 0; setInterval(() => { \
        const panel = document.querySelector('.kiosk section:not([hidden])'); \
        if (!panel || !panel.innerText.trim()) window.blank++; }, 20)";
    browser.execute(script, vec![]).await?;
    Ok(())
}

async fn was_never_blank(browser: &Browser) -> Result<()> {
    let seen = browser.eval("[window.watched === true, window.blank]").await?;
    ensure!(seen == serde_json::json!([true, 0]), "the screen was blank or another page: {seen}");
    Ok(())
}

/// Waits until what is shown looks old; returns how old it was by then, in ms, by the page's own clock.
pub(crate) async fn stale(browser: &Browser) -> Result<Value> {
    browser.until("document.querySelector('.kiosk.stale')").await?;
    browser.see_text("[data-testid=since]", "^No news since \\d\\d:\\d\\d:\\d\\d$").await?;
    browser.eval("getComputedStyle(document.querySelector('.kiosk main')).filter").await
}

/// Waits until it is fresh again; returns how long that took.
pub(crate) async fn fresh(browser: &Browser) -> Result<Duration> {
    let start = Instant::now();
    browser.until("document.querySelector('.kiosk:not(.stale)')").await?;
    Ok(start.elapsed())
}

#[tokio::test]
async fn what_is_old_looks_old_and_the_screen_comes_back_from_a_server_that_hung() -> Result<()> {
    let server = Server::start()?;
    in_browser("kiosk-hung", async |browser| {
        open(browser, &server, "show=run,host&dwell=3600").await?;
        measure(&server, "300s").await?;
        shows(browser, "run").await?;
        browser.see_text("[data-testid=reading]", "\\d").await?;
        watch_for_blanks(browser).await?;
        let process = Process::of(server.id())?;
        process.signal(Signal::STOP)?;
        ensure!(stale(browser).await? == "grayscale(1)");
        browser.see_text("[data-testid=reading]", "\\d").await?;
        process.signal(Signal::CONT)?;
        fresh(browser).await?;
        was_never_blank(browser).await
    })
    .await
}

#[tokio::test]
async fn the_screen_comes_back_from_a_restart_without_being_loaded_anew() -> Result<()> {
    let mut server = Server::start()?;
    in_browser("kiosk-restart", async |browser| {
        open(browser, &server, "show=run,host&dwell=5").await?;
        shows(browser, "host").await?;
        watch_for_blanks(browser).await?;
        ensure!(server.end(Signal::KILL)?.is_none());
        stale(browser).await?;
        let again = server.again()?;
        fresh(browser).await?;
        // It goes on with what the new one measures.
        measure(&again, "60s").await?;
        shows(browser, "run").await?;
        was_never_blank(browser).await
    })
    .await
}

#[tokio::test]
async fn the_screen_comes_back_from_a_network_that_lost_everything() -> Result<()> {
    let end = TcpListener::bind(("127.0.0.1", 0)).await?;
    let server = Server::with(&["--allow-host", &end.local_addr()?.to_string()])?;
    let port = server.page("").rsplit(':').next().context("it has a port")?.parse()?;
    let network = Network::new(end, port)?;
    in_browser("kiosk-network", async |browser| {
        let token = server.url().rsplit('#').next().unwrap_or_default();
        browser.goto(format!("http://127.0.0.1:{}/kiosk?show=run,host&dwell=5#{token}", network.port)).await?;
        shows(browser, "host").await?;
        watch_for_blanks(browser).await?;
        network.cut();
        stale(browser).await?;
        network.mend();
        fresh(browser).await?;
        was_never_blank(browser).await
    })
    .await
}

#[tokio::test]
async fn another_version_of_the_page_is_loaded_once_the_server_answers_with_it() -> Result<()> {
    let mut server = Server::start()?;
    in_browser("kiosk-version", async |browser| {
        open(browser, &server, "show=host").await?;
        shows(browser, "host").await?;
        // As if the server that comes back had another page.
        let other = "window.before = true; const fetch = window.fetch; window.fetch = async (...all) => { \
            const answer = await fetch(...all); return all[0] === '/' ? new Response('another') : answer; }";
        browser.execute(other, vec![]).await?;
        ensure!(server.end(Signal::KILL)?.is_none());
        stale(browser).await?;
        ensure!(browser.eval("window.before").await? == true, "loaded anew while there was no server");
        let _again = server.again()?;
        // Asked again and again, since a script that waits does not outlive its page.
        let loaded = "window.before === undefined && document.querySelector('.kiosk:not(.stale)') !== null";
        let start = Instant::now();
        while !browser.eval(loaded).await.is_ok_and(|loaded| loaded == true) {
            ensure!(start.elapsed() < PATIENCE, "the other page is not loaded");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        shows(browser, "host").await
    })
    .await
}
