//! Panels take turns for days, and the tab stays as large as it was.

use crate::{found_elsewhere, measure, open, shows};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use tests::{Browser, Server, in_browser};

/// Bytes in use on the heap after a collection, and nodes of all documents.
pub(crate) async fn memory(browser: &Browser) -> Result<(f64, f64)> {
    let cdp = browser.cdp();
    // The driver has every message of the console kept, with its stack.
    cdp.send_raw("Runtime.discardConsoleEntries", json!({})).await?;
    cdp.send_raw("Log.clear", json!({})).await?;
    cdp.send_raw("HeapProfiler.collectGarbage", json!({})).await?;
    cdp.send_raw("Performance.enable", json!({})).await?;
    let answer = cdp.send_raw("Performance.getMetrics", json!({})).await?;
    let metric = |name: &str| {
        let all = answer["metrics"].as_array()?;
        all.iter().find(|m| m["name"] == name)?["value"].as_f64()
    };
    Some((metric("JSHeapUsedSize"), metric("Nodes")))
        .and_then(|(heap, nodes)| Some((heap?, nodes?)))
        .with_context(|| format!("no metrics in {answer}"))
}

/// Has time go faster for the page's clock, so that many turns fit into a test.
async fn hurry(browser: &Browser, times: u32) -> Result<()> {
    let script = format!("const now = Date.now, start = now(); Date.now = () => start + (now() - start) * {times}");
    browser.execute(script.as_str(), vec![]).await?;
    Ok(())
}

#[tokio::test]
async fn panels_take_turns_and_leave_nothing_behind() -> Result<()> {
    let server = Server::start()?;
    found_elsewhere(&server).await?;
    let id = measure(&server, "300ms").await?;
    server.ended(&id).await?;
    in_browser("kiosk-turns", async |browser| {
        open(browser, &server, "dwell=5").await?;
        for panel in ["run", "verdict", "host", "run"] {
            shows(browser, panel).await?;
        }
        // Twice as fast is as fast as frames twice a second allow without looking old.
        hurry(browser, 2).await?;
        let before = memory(browser).await?;
        for _ in 0..5 {
            shows(browser, "verdict").await?;
            shows(browser, "run").await?;
        }
        let after = memory(browser).await?;
        ensure!(after.0 < before.0 * 1.1 + 250e3 && after.1 < before.1 * 1.1 + 200.0, "{before:?}, then {after:?}");
        browser.no_errors().await
    })
    .await
}
