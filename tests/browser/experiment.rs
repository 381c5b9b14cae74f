//! An experiment, watched from its start to what it found.

use crate::{id, open};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tests::{Browser, Scheme, Server, Tree, in_browser};
use thirtyfour::prelude::*;

const TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";

fn laptop() -> Result<(Tree, Server)> {
    let machine = Tree::laptop()?;
    let server = Server::below(machine.path())?;
    Ok((machine, server))
}

/// Two settings, each alone; trials as short as they can be.
fn experiment(server: &Server, blocks: u32) -> Value {
    json!({
        "name": "Turbo and governor",
        "design": "one-at-a-time",
        "from": "all-performance",
        "target": server.target(),
        "knobs": ["cpu.turbo", "cpu.governor"],
        "threshold_percent": 5,
        "min_blocks": blocks,
        "max_blocks": blocks,
        "workloads": [
            { "name": "single", "rw": "randread", "size": "8m", "runtime": "300ms", "ramp_time": "50ms" },
            { "name": "deep", "rw": "randread", "iodepth": 8, "size": "8m", "runtime": "300ms", "ramp_time": "50ms" }
        ]
    })
}

async fn begin(server: &Server, blocks: u32) -> Result<String> {
    id(&server.post("/experiments?patience=0s", &experiment(server, blocks)).await?)
}

/// Opens the page of an experiment.
async fn watch(browser: &Browser, server: &Server, id: &str) -> Result<()> {
    open(browser, server).await?;
    browser.goto(server.page(&format!("/experiments/{id}"))).await?;
    browser.see("[data-testid=headline]").await.map(drop)
}

/// Waits until so many trials show as ended.
async fn trials(browser: &Browser, at_least: u32) -> Result<()> {
    browser.until(&format!("document.querySelectorAll('.block .counts').length >= {at_least}")).await
}

/// Waits until the experiment is as wanted, or an event is. The server first waits for other programs, so that no time
/// can be set for it.
async fn until(server: &Server, live: fn(&Value) -> bool, event: fn(&Value) -> bool) -> Result<()> {
    let wanted = |f: &Value| if f["type"] == "snapshot" { live(&f["experiment"]) } else { event(f) };
    server.event(wanted).await.map(drop)
}

async fn a_block_has_ended(server: &Server) -> Result<()> {
    until(server, |e| e["blocks"].as_u64() >= Some(1), |f| f["type"] == "block-finished").await
}

async fn it_has_ended(server: &Server) -> Result<()> {
    until(server, |e| e["state"] != "running", |f| f["type"] == "experiment-finished").await
}

/// A picture, where they are wanted, for each way of looking at the page.
async fn pictures(browser: &Browser, name: &str) -> Result<()> {
    browser.picture(&format!("{name}-dark")).await?;
    browser.scheme(Scheme::Light).await?;
    browser.picture(&format!("{name}-light")).await?;
    browser.scheme(Scheme::Dark).await?;
    for (width, height, size) in [(360, 1800, "phone"), (3840, 2160, "4k")] {
        browser.size(width, height).await?;
        browser.picture(&format!("{name}-{size}")).await?;
    }
    browser.size(1440, 900).await
}

#[tokio::test]
async fn an_experiment_is_watched_to_its_end_and_leaves_the_settings_as_found() -> Result<()> {
    let (machine, server) = laptop()?;
    in_browser("experiment", async |browser| {
        let id = begin(&server, 10).await?;
        watch(browser, &server, &id).await?;
        browser.see_text("[data-testid=standing]", "Block \\d of 10 at most").await?;
        browser.see("[data-testid=chart]").await?;
        until(&server, |e| e["trial"].is_object(), |f| f["type"] == "trial-started").await?;
        a_block_has_ended(&server).await?;
        trials(browser, 6).await?;
        browser.see_text("[data-testid=in-force]", "all-performance|cpu\\.").await?;
        // In the middle of it, what has been is there again.
        browser.refresh().await?;
        trials(browser, 6).await?;
        browser.see_text(".forest", "Turbo").await?;
        browser.see_text("[data-testid=standing]", "left").await?;
        let rows = "document.querySelectorAll('.forest [data-verdict]').length";
        ensure!(browser.eval(rows).await? == 4, "two settings, two workloads");
        browser.find(By::Css("[data-testid=trials]")).await?.send_keys(Key::Home + "").await?;
        browser.see_text("[data-testid=trial-words]", "^Block 1, .*: (counts|repeated)").await?;
        until(&server, |e| e["blocks"].as_u64() >= Some(7), |f| f["blocks"].as_u64() >= Some(7)).await?;
        browser.see(".forest .interval").await?;
        pictures(browser, "experiment").await?;
        it_has_ended(&server).await?;
        browser.see("[data-testid=report]").await?;
        browser.see_text("[data-testid=experiment-state]", "done").await?;
        pictures(browser, "experiment-report").await?;
        machine.assert_as_found()?;
        let file = server.get(&format!("/experiments/{id}")).await?;
        let cell = |t: &Value| format!("{} {} {}", t["block"], t["configuration"], t["workload"]);
        let cells: BTreeSet<_> = file["trials"].as_array().into_iter().flatten().map(cell).collect();
        ensure!(cells.len() == 10 * 3 * 2, "{cells:?}");
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn an_experiment_pauses_goes_on_stops_and_is_resumed() -> Result<()> {
    let (machine, server) = laptop()?;
    in_browser("experiment-pause", async |browser| {
        let id = begin(&server, 30).await?;
        watch(browser, &server, &id).await?;
        browser.see("#pause").await?.click().await?;
        until(&server, |e| e["paused"] == true, |f| f["paused"] == true).await?;
        browser.see_text("[data-testid=standing]", "^Paused").await?;
        machine.assert_as_found()?;
        browser.goto(server.page("/")).await?;
        browser.see_text("[data-testid=underway]", "Turbo and governor").await?;
        browser.see_text("[data-testid=occupied]", "experiment").await?;
        browser.see("[data-testid=underway] a").await?.click().await?;
        browser.until(&format!("location.pathname === '/experiments/{id}'")).await?;
        browser.see_text("#pause", "Resume").await?;
        browser.see("#pause").await?.click().await?;
        browser.see_text("#pause", "^Pause$").await?;
        a_block_has_ended(&server).await?;
        browser.see_text("[data-testid=standing]", "trial \\d").await?;
        browser.see("#stop").await?.click().await?;
        it_has_ended(&server).await?;
        browser.see_text("[data-testid=experiment-state]", "stopped").await?;
        machine.assert_as_found()?;
        browser.see("#resume").await?.click().await?;
        browser.see("[data-testid=headline]").await?;
        trials(browser, 6).await?;
        browser.see("#stop").await?.click().await?;
        it_has_ended(&server).await?;
        browser.see_text("[data-testid=experiment-state]", "stopped").await?;
        machine.assert_as_found()?;
        browser.no_errors().await
    })
    .await
}

/// What reaches beyond the page's right edge without scrolling by itself.
const TOO_WIDE: &str = "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > 361 && !e.closest('.scroll, .cells')).map(e => \
    e.outerHTML.slice(0, 80))";

/// Nothing scrolls sideways on a phone.
async fn fits_a_phone(browser: &Browser, name: &str) -> Result<()> {
    browser.size(360, 740).await?;
    browser.picture(&format!("{name}-phone")).await?;
    let wide = browser.eval(TOO_WIDE).await?;
    let width = browser.eval("document.documentElement.scrollWidth").await?;
    ensure!(width.as_u64().is_some_and(|w| w <= 360), "{name} is {width} wide: {wide}");
    browser.size(1440, 900).await
}

#[tokio::test]
async fn an_experiment_owns_its_settings_and_is_read_on_a_phone() -> Result<()> {
    let (machine, server) = laptop()?;
    in_browser("experiment-phone", async |browser| {
        let mut wanted = experiment(&server, 40);
        wanted["workloads"].as_array_mut().map(Vec::pop);
        let id = id(&server.post("/experiments?patience=0s", &wanted).await?)?;
        watch(browser, &server, &id).await?;
        a_block_has_ended(&server).await?;
        trials(browser, 3).await?;
        let tops = |what: &str| {
            format!("[...document.querySelectorAll('{what} .one')].map(e => e.getBoundingClientRect().top)")
        };
        let (names, cells) = (browser.eval(&tops(".labels")).await?, browser.eval(&tops(".block:nth-child(2)")).await?);
        ensure!(names == cells && names.as_array().map(Vec::len) == Some(3), "{names} beside {cells}");
        browser.see_text("[data-testid=changed]", "for the experiment that is on").await?;
        ensure!(browser.eval("document.querySelector('[data-testid=restore]')").await?.is_null());
        browser.picture("experiment-one-workload").await?;
        fits_a_phone(browser, "live").await?;
        browser.see("[data-testid=stop-experiment]").await?.click().await?;
        it_has_ended(&server).await?;
        browser.until("!document.querySelector('[data-testid=banner]')").await?;
        machine.assert_as_found()?;
        browser.see("[data-testid=report]").await?;
        fits_a_phone(browser, "ended").await?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn what_was_found_is_tried_with_one_click_and_put_back_with_another() -> Result<()> {
    let (machine, server) = laptop()?;
    in_browser("experiment-try", async |browser| {
        // Nothing here costs half of the speed, so that all is free and, where power counts, the saving value is advised.
        let mut wanted = experiment(&server, 6);
        wanted["knobs"] = json!(["cpu.turbo"]);
        wanted["threshold_percent"] = json!(95);
        wanted["max_blocks"] = json!(60);
        wanted["workloads"].as_array_mut().map(Vec::pop);
        let id = id(&server.post("/experiments?patience=0s", &wanted).await?)?;
        watch(browser, &server, &id).await?;
        it_has_ended(&server).await?;
        browser.see("[data-testid=report]").await?;
        for format in ["html", "json", "tuned", "script"] {
            browser.see(&format!("[data-export={format}][href*='format={format}']")).await?;
        }
        browser.see_text("[data-testid=tried]", "It is so already").await?;
        browser.eval("document.querySelector('input[name=use][value=battery]').click()").await?;
        browser.see_text("[data-testid=tried]", "Changes 1 setting").await?;
        browser.see("#try").await?.click().await?;
        browser.see_text("[data-testid=tried]", "1 set and read back").await?;
        browser.see_text("[data-testid=changed]", "^1 setting is changed by Brakecheck").await?;
        ensure!(machine.read(TURBO)? == "1");
        browser.see("[data-testid=restore]").await?.click().await?;
        browser.until("!document.querySelector('[data-testid=banner]')").await?;
        machine.assert_as_found()?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn an_experiment_that_is_not_there_is_said_to_be_missing() -> Result<()> {
    let server = Server::start()?;
    in_browser("experiment-missing", async |browser| {
        open(browser, &server).await?;
        browser.goto(server.page("/experiments/nowhere")).await?;
        browser.see_text("main", "cannot be shown").await?;
        browser.see("[data-testid=error]").await.map(drop)
    })
    .await
}
