//! Viewers on the network: what their page shows, and how the operator lets them in.

use crate::{finished_run, id, open, start};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::path::Path;
use tests::{Browser, Scheme, Server, Tree, in_browser};

/// Everything that can be pressed or filled in, apart from what only arranges the page itself.
const CONTROLS: &str = "[...document.querySelectorAll('form, button, input, select, textarea, [contenteditable]')]
    .filter(e => !e.matches('#theme, #filter, #compare, .cell, td input[type=checkbox], input[type=radio]'))
    .map(e => e.outerHTML.slice(0, 120))";

#[tokio::test]
async fn viewers_find_nothing_that_changes_anything_on_any_page() -> Result<()> {
    let machine = Tree::laptop()?;
    let server = Server::watched(machine.path(), &[])?;
    let run = finished_run(&server).await?;
    let wanted = json!({
        "design": "one-at-a-time", "from": "all-performance", "target": server.target(), "knobs": ["cpu.turbo"],
        "min_blocks": 2, "max_blocks": 2,
        "workloads": [{ "name": "single", "rw": "randread", "size": "8m", "runtime": "100ms", "ramp_time": "0s" }]
    });
    let experiment = id(&server.post("/experiments?patience=0s", &wanted).await?)?;
    let ended = |f: &serde_json::Value| match f["type"].as_str() {
        Some("snapshot") => f["experiment"].is_object() && f["experiment"]["state"] != "running",
        Some(kind) => kind == "experiment-finished",
        None => false,
    };
    server.event(ended).await?;
    start(&server, "60s").await?;
    let viewers = server.viewers().await?;
    let pages = [
        ("/", "[data-testid=run-state]"),
        ("/brakes", "table.list"),
        ("/power", "[data-knob]"),
        ("/results", "table.list"),
        (&format!("/runs/{run}"), "[data-testid=run-state]"),
        (&format!("/experiments/{experiment}"), "[data-testid=report]"),
        (&format!("/compare?a={run}&b={run}"), "main h1"),
        ("/nowhere", "main h1"),
    ];
    in_browser("viewers", async |browser| {
        for (path, css) in pages {
            browser.goto(format!("{viewers}{path}")).await?;
            browser.see(css).await?;
            browser.see_text("[data-testid=looking]", "You are watching .").await?;
            browser.see_text("[data-testid=connection]", "live").await?;
            let controls = browser.eval(CONTROLS).await?;
            ensure!(controls == json!([]), "{path}: {controls:#}");
            let text = browser.eval("document.documentElement.outerHTML").await?.to_string();
            let secret = server.target().to_string_lossy().into_owned();
            ensure!(!text.contains(&secret), "{path} shows {secret}");
            let broken = "Promise.all([...document.querySelectorAll('a[href^=\"/api\"]')].map(async a => \
                [a.getAttribute('href'), (await fetch(a.href)).status]))\
                .then(all => all.filter(([, status]) => status !== 200))";
            let broken = browser.eval(broken).await?;
            ensure!(broken == json!([]), "{path}: {broken:#}");
            // A request that was refused is an error of the console.
            browser.no_errors().await?;
            let name = path.split('/').nth(1).filter(|n| !n.is_empty()).unwrap_or("measure");
            browser.picture(&format!("viewer-{}", name.split('?').next().unwrap_or(name))).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_operator_switches_viewers_off_and_on_and_they_come_back() -> Result<()> {
    let server = Server::watched(Path::new("/"), &[])?;
    let viewers = server.viewers().await?;
    in_browser("operator", async |operator| {
        in_browser("viewer", async |viewer| {
            open(operator, &server).await?;
            viewer.goto(&viewers).await?;
            viewer.see_text("[data-testid=connection]", "live").await?;
            operator.see_text("[data-testid=watching]", "^1 watching").await?;
            operator.see("[data-testid=watching]").await?.click().await?;
            operator.see_text("#viewers-url", &viewers).await?;
            operator.until("document.querySelector('.viewers img').naturalWidth > 100").await?;
            look(operator, "viewers").await?;

            operator.see("#viewers-switch").await?.click().await?;
            operator.see_text("[data-testid=watching]", "^Viewers off").await?;
            viewer.see_text("[data-testid=connection]", "switched off").await?;
            operator.see("#viewers-switch").await?.click().await?;
            viewer.see_text("[data-testid=connection]", "live").await?;
            operator.see_text("[data-testid=watching]", "^1 watching").await?;
            ensure!(server.viewers().await? == viewers, "the address stays");

            operator.action_chain().send_keys(thirtyfour::Key::Escape + "").perform().await?;
            operator.until("!document.querySelector('.viewers').open").await?;
            operator.until("document.activeElement.matches('[data-testid=watching]')").await?;
            operator.no_errors().await
        })
        .await
    })
    .await
}

#[tokio::test]
async fn over_tls_the_page_and_its_stream_come_encrypted_and_the_operator_sees_the_fingerprint() -> Result<()> {
    let server = Server::watched(Path::new("/"), &["--lan-tls"])?;
    let viewers = server.viewers().await?;
    ensure!(viewers.starts_with("https://"), "{viewers}");
    let status = server.get("/lan").await?;
    let fingerprint = status["fingerprint"].as_str().context("it has a fingerprint")?;
    in_browser("tls-operator", async |operator| {
        in_browser("tls-viewer", async |viewer| {
            open(operator, &server).await?;
            viewer.goto(&viewers).await?;
            viewer.see_text("[data-testid=connection]", "live").await?;
            ensure!(viewer.eval("[location.protocol, isSecureContext]").await? == json!(["https:", true]));
            start(&server, "60s").await?;
            viewer.see_text("[data-testid=reading]", "\\d").await?;
            viewer.goto(format!("{viewers}/kiosk")).await?;
            viewer.see_text("[data-testid=reading]", "\\d").await?;
            operator.see_text("[data-testid=watching]", "^1 watching").await?;
            operator.see("[data-testid=watching]").await?.click().await?;
            operator.see_text(".viewers", fingerprint).await?;
            operator.picture("viewers-tls").await?;
            operator.no_errors().await
        })
        .await
    })
    .await
}

#[tokio::test]
async fn without_an_address_the_panel_says_how_to_name_one() -> Result<()> {
    let server = Server::start()?;
    in_browser("no-viewers", async |browser| {
        open(browser, &server).await?;
        browser.see("[data-testid=watching]").await?.click().await?;
        browser.see_text(".viewers pre", "brakecheck serve --lan .").await?;
        ensure!(browser.eval("document.querySelector('#viewers-switch')").await?.is_null());
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn a_password_is_asked_for_by_the_page_and_wrong_ones_are_told_apart() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("password");
    std::fs::write(&file, "sésame\n")?;
    let server = Server::watched(Path::new("/"), &["--viewer-password-file", &file.to_string_lossy()])?;
    let viewers = server.viewers().await?;
    in_browser("password", async |browser| {
        browser.goto(format!("{viewers}/results")).await?;
        for _ in 0..5 {
            try_password(browser, "guess").await?;
            browser.see_text("[data-testid=error]", "not the viewers' password").await?;
        }
        try_password(browser, "guess").await?;
        browser.see_text("[data-testid=error]", "Too many wrong passwords.*\\s*Try again in \\d+ s").await
    })
    .await?;
    // Another start has forgotten them.
    let again = Server::watched(Path::new("/"), &["--viewer-password-file", &file.to_string_lossy()])?;
    let viewers = again.viewers().await?;
    in_browser("password", async |browser| {
        browser.goto(format!("{viewers}/results")).await?;
        try_password(browser, "sésame").await?;
        browser.see_text("[data-testid=connection]", "live").await?;
        ensure!(browser.eval("location.pathname").await? == "/results");
        browser.goto(format!("{viewers}/power")).await?;
        browser.see_text("[data-testid=looking]", "You are watching").await
    })
    .await
}

async fn try_password(browser: &Browser, word: &str) -> Result<()> {
    browser.fill("#password", word).await?;
    browser.see("form button[type=submit]").await?.click().await?;
    Ok(())
}

/// Pictures in both colours and on a phone, where nothing may be wider than the screen.
async fn look(browser: &Browser, name: &str) -> Result<()> {
    browser.picture(name).await?;
    browser.scheme(Scheme::Light).await?;
    browser.picture(&format!("{name}-light")).await?;
    browser.size(360, 740).await?;
    browser.until("document.documentElement.scrollWidth <= innerWidth").await?;
    browser.picture(&format!("{name}-360")).await?;
    browser.scheme(Scheme::Dark).await?;
    browser.size(1440, 900).await
}
