//! Each panel on each screen: all of it is seen, and what matters can be read from three metres.

use crate::{found_elsewhere, id, measure, open, shows};
use anyhow::{Result, ensure};
use serde_json::json;
use tests::{Browser, Scheme, Server, Tree, in_browser};

/// 1080p and 4K, and a screen that stands upright.
const SCREENS: [(u32, u32); 3] = [(1920, 1080), (3840, 2160), (1080, 1920)];

/// Looks at the panel that is shown on every screen.
async fn fits(browser: &Browser, name: &str) -> Result<()> {
    for (width, height) in SCREENS {
        browser.size(width, height).await?;
        browser.until(&format!("innerWidth === {width}")).await?;
        let beyond = browser
            .eval(
                "[...document.querySelectorAll('.kiosk section:not([hidden]) *')].filter(e => e.checkVisibility()).filter(e => \
                 { const r = e.getBoundingClientRect(); return r.right > innerWidth + 1 || r.bottom > document.querySelector('.kiosk footer').getBoundingClientRect().top + 1 || \
                 r.left < -1 || r.top < -1 }).map(e => e.outerHTML.slice(0, 120)).slice(0, 3)",
            )
            .await?;
        ensure!(beyond == json!([]), "{name} at {width}x{height}: {beyond}");
        let wide = browser.eval("document.documentElement.scrollWidth > innerWidth").await?;
        ensure!(wide == false, "{name} at {width}x{height} scrolls");
        let small = browser
            .eval(
                "[...document.querySelectorAll('.kiosk section:not([hidden]) *')].filter(e => e.checkVisibility() && \
                 [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(e => \
                 parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement?.getScreenCTM().a ?? 1)).reduce((a, b) => \
                 Math.min(a, b), innerHeight) / Math.min(innerWidth, innerHeight)",
            )
            .await?;
        ensure!(
            small.as_f64() >= Some(0.016),
            "{name} at {width}x{height}: the smallest text is {small} of the screen"
        );
        browser.picture(&format!("kiosk-{name}-{width}x{height}")).await?;
    }
    browser.scheme(Scheme::Light).await?;
    browser.picture(&format!("kiosk-{name}-light")).await?;
    browser.scheme(Scheme::Dark).await
}

#[tokio::test]
async fn a_screen_without_anything_to_show_says_what_it_is() -> Result<()> {
    let server = Server::start()?;
    in_browser("kiosk-calm", async |browser| {
        open(browser, &server, "show=run,verdict,laddr&dwell=5").await?;
        browser.see_text(".kiosk section:not([hidden])", "Nothing has been measured yet").await?;
        browser.see_text(".kiosk footer", "no .laddr.; did you mean .ladder.").await?;
        fits(browser, "calm").await?;
        ensure!(browser.eval("document.querySelectorAll('.kiosk :is(button, input, a, select)').length").await? == 0);
        let cursor = "getComputedStyle(document.querySelector('.kiosk')).cursor";
        ensure!(browser.eval(cursor).await? == "none");
        // What begins is shown by itself.
        measure(&server, "60s").await?;
        shows(browser, "run").await?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn the_running_measurement_can_be_read_from_three_metres() -> Result<()> {
    let server = Server::start()?;
    in_browser("kiosk-run", async |browser| {
        open(browser, &server, "show=run&shift=0").await?;
        measure(&server, "120s").await?;
        shows(browser, "run").await?;
        browser.see_text("[data-testid=reading]", "\\d").await?;
        browser.see_text("[data-testid=standing]", "left").await?;
        browser.see("[data-testid=chart]").await?;
        fits(browser, "run").await?;
        for (width, height) in SCREENS {
            browser.size(width, height).await?;
            let digits =
                browser.eval("document.querySelector('.digits').getBoundingClientRect().height / innerHeight").await?;
            ensure!(digits.as_f64() >= Some(0.125), "{width}x{height}: the reading is {digits} of the screen");
        }
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn an_experiment_stays_on_the_screen_until_it_has_ended_and_then_comes_its_verdict() -> Result<()> {
    let machine = Tree::laptop()?;
    let server = Server::below(machine.path())?;
    found_elsewhere(&server).await?;
    in_browser("kiosk-experiment", async |browser| {
        open(browser, &server, "show=verdict,run&dwell=5&shift=0").await?;
        shows(browser, "verdict").await?;
        let experiment = json!({
            "design": "one-at-a-time", "from": "all-performance", "target": server.target(),
            "knobs": ["cpu.turbo", "cpu.governor"], "threshold_percent": 5, "min_blocks": 30, "max_blocks": 30,
            "workloads": [
                { "name": "single", "rw": "randread", "size": "8m", "runtime": "200ms", "ramp_time": "50ms" },
                { "name": "deep", "rw": "randread", "iodepth": 8, "size": "8m", "runtime": "200ms", "ramp_time": "50ms" }
            ]
        });
        let id = id(&server.post("/experiments?patience=0s", &experiment).await?)?;
        shows(browser, "run").await?;
        browser.see_text(".kiosk-told [data-testid=standing]", "Block \\d+ of 30").await?;
        browser.see(".kiosk-told .forest .interval").await?;
        fits(browser, "experiment").await?;
        ensure!(browser.eval("document.querySelector('.kiosk').dataset.panel").await? == "run");
        server.delete(&format!("/experiments/{id}")).await?;
        shows(browser, "verdict").await?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn verdicts_ladder_and_host_are_drawn_large() -> Result<()> {
    let server = Server::start()?;
    found_elsewhere(&server).await?;
    let preset = json!({ "target": server.target(), "preset": "cdm8", "size": "32m", "runtime": "100ms", "pause": "0s",
        "repetitions": 1 });
    let run = id(&server.post("/runs", &preset).await?)?;
    server.ended(&run).await?;
    in_browser("kiosk-drawn", async |browser| {
        for (panel, seen) in [("verdict", ".headline"), ("ladder", ".kiosk-grid b"), ("host", ".kiosk-facts dd")] {
            open(browser, &server, &format!("show={panel}&shift=0")).await?;
            shows(browser, panel).await?;
            browser.see(&format!(".kiosk section:not([hidden]) {seen}")).await?;
            if panel == "host" {
                // What is only measured while somebody looks comes by itself.
                browser.see_text(".kiosk-facts", "CPU use").await?;
            }
            fits(browser, panel).await?;
        }
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn a_ladder_is_drawn_rung_by_rung() -> Result<()> {
    let machine = Tree::laptop()?;
    let server = Server::below(machine.path())?;
    let experiment = json!({
        "design": "ladder", "target": server.target(), "min_blocks": 2, "max_blocks": 2,
        "knobs": ["cpu.governor", "cpu.epb", "cpu.turbo", "pcie.aspm", "sata.link-power@host0", "nvme.apst@nvme0"],
        "workloads": [{ "name": "single", "rw": "randread", "size": "8m", "runtime": "100ms", "ramp_time": "20ms" }]
    });
    let id = id(&server.post("/experiments?patience=0s", &experiment).await?)?;
    server.event(|f| f["type"] == "experiment-finished" && f["experiment"] == id).await?;
    in_browser("kiosk-ladder", async |browser| {
        open(browser, &server, "show=ladder&shift=0").await?;
        shows(browser, "ladder").await?;
        browser.see(".kiosk section:not([hidden]) .kiosk-chart svg").await?;
        for rung in ["all-saving", "cpu.governor", "nvme.apst"] {
            let drawn = "document.querySelector('.kiosk section:not([hidden]) .kiosk-chart').textContent";
            browser.until(&format!("{drawn}.includes('{rung}')")).await?;
        }
        fits(browser, "rungs").await?;
        browser.no_errors().await
    })
    .await
}
