//! The server goes away and comes back while the page is open.

use crate::{open, start};
use anyhow::{Result, ensure};
use rustix::process::Signal;
use tests::{Server, in_browser};

#[tokio::test]
async fn the_page_says_that_it_lost_the_server_and_recovers_by_itself() -> Result<()> {
    let mut server = Server::start()?;
    in_browser("reconnect", async |browser| {
        open(browser, &server).await?;
        start(&server, "60s").await?;
        browser.see("#stop").await?;
        ensure!(server.end(Signal::KILL)?.is_none());
        browser.see_text("[data-testid=connection]", "[Cc]onnection lost").await?;
        // A run that died with the server must not look as if it went on.
        let again = server.again()?;
        browser.until("!/lost/.test(document.querySelector('[data-testid=connection]')?.innerText ?? '')").await?;
        browser.see("#start").await?;
        let runs = again.get("/runs").await?;
        ensure!(runs[0]["state"] == "interrupted", "{runs}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_graceful_stop_ends_the_run_and_the_program_with_0() -> Result<()> {
    let mut server = Server::start()?;
    let id = start(&server, "60s").await?;
    server.event(|frame| frame["type"] == "sample").await?;
    ensure!(server.end(Signal::TERM)? == Some(0));
    ensure!(server.target().read_dir()?.next().is_none(), "the file is still there");
    let again = server.again()?;
    let record = again.get(&format!("/runs/{id}")).await?;
    ensure!(record["state"] == "stopped", "{record}");
    Ok(())
}
