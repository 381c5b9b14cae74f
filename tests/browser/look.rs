//! Sizes and colours; the pictures of README.

use crate::{finished_run, id, open};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::time::Duration;
use tests::{Browser, Drive, Pace, Scheme, Server, Setting, Tree, give_to_server, in_browser};

#[tokio::test]
async fn no_page_scrolls_sideways_on_a_phone() -> Result<()> {
    let server = Server::start()?;
    let id = finished_run(&server).await?;
    in_browser("phone", async |browser| {
        open(browser, &server).await?;
        browser.size(360, 800).await?;
        for path in ["/", "/power", "/results", &format!("/runs/{id}"), &format!("/compare?a={id}&b={id}")] {
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
    let post = async |run: &Value| id(&server.post("/runs", run).await?);
    in_browser("pictures", async |browser: &Browser| {
        open(browser, &server).await?;
        browser.fill("#target", "/var/tmp").await?;
        let preset = json!({ "target": "/var/tmp", "preset": "cdm8", "size": "256m", "runtime": "1s", "pause": "0s",
            "repetitions": 1 });
        let run = post(&preset).await?;
        // Most of the grid is filled, and the curve as well.
        let late = |f: &Value| f["step"].as_u64() >= Some(19) && f["t_ms"].as_f64() > Some(800.0);
        server.event(|f| f["type"] == "sample" && late(f)).await?;
        browser.picture("measure").await?;
        server.ended(&run).await?;
        let mut pair = Vec::new();
        for wait in ["enter", "epoll"] {
            let workload = json!({ "rw": "randread", "iodepth": 8, "size": "256m", "runtime": "500ms", "wait": wait });
            let run = json!({ "target": "/var/tmp", "workloads": [workload], "repetitions": 5 });
            pair.push(post(&run).await?);
            server.ended(&pair[pair.len() - 1]).await?;
        }
        let compare = format!("/compare?a={}&b={}", pair[0], pair[1]);
        for (name, path) in [("run", format!("/runs/{run}")), ("results", "/results".into()), ("compare", compare)] {
            browser.goto(server.page(&path)).await?;
            browser.see("main").await?;
            browser.until("document.querySelector('main').innerText.length > 60").await?;
            browser.picture(name).await?;
        }
        Ok(())
    })
    .await
}

/// Of an experiment that finds what is really there: reads take a quarter longer while turbo is off.
#[tokio::test]
async fn picture_of_an_experiment() -> Result<()> {
    if std::env::var_os("BRAKECHECK_SCREENSHOTS").is_none() {
        eprintln!("skipped: `make screenshots` takes it");
        return Ok(());
    }
    let tree = Tree::laptop()?;
    let pace = Pace { read: Duration::from_millis(1), bandwidth: 400_000_000 };
    let Some(drive) = Drive::with("ext4", 64, pace)? else { return Ok(()) };
    give_to_server(&drive.path())?;
    let file = tree.path().join("sys/devices/system/cpu/intel_pstate/no_turbo");
    let _cost = drive.slowed(1.25, Setting { file, saving: "1".into() })?;
    let server = Server::below(tree.path())?;
    let workload = |name: &str, iodepth: u32| json!({ "name": name, "rw": "randread", "iodepth": iodepth, "size": "16m", "runtime": "250ms", "ramp_time": "50ms" });
    let experiment = json!({
        "name": "What does each setting cost?", "design": "one-at-a-time", "from": "all-performance",
        "target": drive.path(), "threshold_percent": 5, "min_blocks": 24, "max_blocks": 40,
        "knobs": ["cpu.turbo", "cpu.epb", "pcie.aspm", "nvme.apst@nvme0"],
        "workloads": [workload("4K reads one at a time", 1), workload("4K reads, 8 in flight", 8)]
    });
    let experiment = id(&server.post("/experiments?patience=0s", &experiment).await?)?;
    server.event(|f| f["type"] == "experiment-finished" && f["experiment"] == experiment).await?;
    // As it looks where the drive has a place of its own.
    let file = server.get(&format!("/experiments/{experiment}")).await?.to_string();
    let file = serde_json::from_str(&file.replace(&drive.path().display().to_string(), "/mnt/ssd"))?;
    let server = Server::start()?;
    let experiment = id(&server.post("/experiments/import", &file).await?)?;
    in_browser("picture-experiment", async |browser: &Browser| {
        open(browser, &server).await?;
        browser.size(1440, 1320).await?;
        browser.goto(server.page(&format!("/experiments/{experiment}"))).await?;
        browser.see("[data-testid=report]").await?;
        browser.picture("experiment").await
    })
    .await
}
