//! The list of results: open, compare, delete.

use crate::{finished_run, open};
use anyhow::{Result, ensure};
use tests::{Server, in_browser};
use thirtyfour::prelude::*;

#[tokio::test]
async fn results_are_listed_compared_and_deleted() -> Result<()> {
    let server = Server::start()?;
    let (first, second) = (finished_run(&server).await?, finished_run(&server).await?);
    in_browser("results", async |browser| {
        open(browser, &server).await?;
        browser.goto(server.page("/results")).await?;
        for id in [&first, &second] {
            browser.see(&format!("[data-run='{id}']")).await?;
            browser.see(&format!("[data-run='{id}'] input[type=checkbox]")).await?.click().await?;
        }
        browser.see("#compare").await?.click().await?;
        browser.until("location.pathname === '/compare'").await?;
        browser.see_text("body", "randread 4k QD8").await?;
        browser.see_text("[data-testid=difference]", "%").await?;
        browser.no_errors().await?;
        browser.goto(server.page(&format!("/runs/{first}"))).await?;
        // What the server tells when the line is there may draw the page anew.
        browser.see_text("[data-testid=connection]", "live").await?;
        browser.see("[data-testid=delete]").await?.click().await?;
        browser.see("[data-testid=delete-yes]").await?.click().await?;
        browser.until("location.pathname === '/results'").await?;
        browser.see(&format!("[data-run='{second}']")).await?;
        ensure!(browser.find_all(By::Css(format!("[data-run='{first}']"))).await?.is_empty(), "it is still listed");
        ensure!(server.get("/runs").await?.as_array().is_some_and(|runs| runs.len() == 1));
        Ok(())
    })
    .await
}
