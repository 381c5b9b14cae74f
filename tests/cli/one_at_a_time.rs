//! `bench` and `serve` on one state directory keep out of each other's way.

use anyhow::{Result, ensure};
use serde_json::json;
use tests::{Finished, Server};

#[tokio::test]
async fn a_run_of_the_server_keeps_bench_out() -> Result<()> {
    let server = Server::start()?;
    let run = json!({ "target": server.target(), "workloads": [
        { "rw": "randread", "size": "16m", "runtime": "30s" }
    ] });
    let id = server.post("/runs", &run).await?["id"].clone();
    let bench = || {
        let child = std::process::Command::new(tests::program()?)
            .arg("--state-dir")
            .arg(server.state_dir())
            .args(["bench", "--rw", "randread", "--size", "16m", "--runtime", "100ms", "--target"])
            .arg(server.target())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()?;
        Finished::of(child)
    };
    bench()?.refused(6, &["run"])?;
    server.delete(&format!("/runs/{}", id.as_str().unwrap_or_default())).await?;
    server.ended(id.as_str().unwrap_or_default()).await?;
    let finished = bench()?;
    ensure!(finished.code == Some(0), "{finished:?}");
    // Both runs are in the one store.
    ensure!(server.get("/runs").await?.as_array().is_some_and(|runs| runs.len() == 2));
    Ok(())
}
