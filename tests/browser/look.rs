//! Sizes and colours; the pictures of README.

use crate::{finished_run, open, start};
use anyhow::{Result, ensure};
use tests::{Browser, Scheme, Server, in_browser};

#[tokio::test]
async fn no_page_scrolls_sideways_on_a_phone() -> Result<()> {
    let server = Server::start()?;
    let id = finished_run(&server).await?;
    in_browser("phone", async |browser| {
        open(browser, &server).await?;
        browser.size(360, 800).await?;
        for path in ["/", "/results", &format!("/runs/{id}"), &format!("/compare?a={id}&b={id}")] {
            browser.goto(server.page(path)).await?;
            browser.see("main").await?;
            browser.until("document.querySelector('main').innerText.length > 40").await?;
            let width = browser.eval("document.documentElement.scrollWidth").await?;
            ensure!(width.as_u64().is_some_and(|w| w <= 360), "{path} is {width} wide");
        }
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn the_page_follows_the_desktops_colours() -> Result<()> {
    let server = Server::start()?;
    in_browser("colours", async |browser| {
        for (scheme, dark) in [(Scheme::Dark, true), (Scheme::Light, false)] {
            browser.scheme(scheme).await?;
            // From another document: an address that differs in its fragment alone is not loaded again.
            browser.goto("about:blank").await?;
            open(browser, &server).await?;
            let ground = browser.eval("getComputedStyle(document.body).backgroundColor").await?;
            let ground = ground.as_str().unwrap_or_default();
            let channels: Vec<f64> =
                ground.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|c| c.parse().ok()).collect();
            let sum: f64 = channels.iter().take(3).sum();
            ensure!(channels.len() >= 3 && (sum < 384.0) == dark, "{scheme:?}: {ground}");
        }
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn pictures() -> Result<()> {
    if std::env::var_os("BRAKECHECK_SCREENSHOTS").is_none() {
        eprintln!("skipped: `make screenshots` takes them");
        return Ok(());
    }
    let server = Server::start()?;
    in_browser("pictures", async |browser: &Browser| {
        open(browser, &server).await?;
        let id = start(&server, "6s").await?;
        // Until the curve fills a good part of the chart.
        server.event(|f| f["type"] == "sample" && f["t_ms"].as_f64().is_some_and(|t| t > 5000.0)).await?;
        browser.picture("measure").await?;
        server.ended(&id).await?;
        let other = finished_run(&server).await?;
        for (name, path) in [
            ("run", format!("/runs/{id}")),
            ("results", "/results".into()),
            ("compare", format!("/compare?a={id}&b={other}")),
        ] {
            browser.goto(server.page(&path)).await?;
            browser.see("main").await?;
            browser.until("document.querySelector('main').innerText.length > 40").await?;
            browser.picture(name).await?;
        }
        Ok(())
    })
    .await
}
