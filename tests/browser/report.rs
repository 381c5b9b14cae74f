//! The report of an experiment as a file, opened without any server.

use anyhow::{Result, ensure};
use tests::{Cli, Scheme, Tree, in_browser, scratch};

/// Two knobs of a recorded machine, two blocks.
const EXPERIMENT: &str = r#"
name = "<script>document.title = 'taken over'</script>"
design = "one-at-a-time"
from = "all-performance"
knobs = ["cpu.turbo", "cpu.governor"]
threshold_percent = 10
min_blocks = 2
max_blocks = 2
[[workloads]]
name = "single"
rw = "randread"
size = "8m"
runtime = "200ms"
"#;

#[tokio::test]
async fn an_exported_report_can_be_read_anywhere() -> Result<()> {
    let (tree, cli, target) = (Tree::laptop()?, Cli::new()?, scratch()?);
    let (file, report) = (target.path().join("experiment.toml"), target.path().join("report.html"));
    std::fs::write(&file, EXPERIMENT)?;
    let path = |p: &std::path::Path| p.display().to_string();
    let root = path(tree.path());
    let run = ["--sysroot", &root, "experiment", "run", "--quiet", "--patience", "0s", "--target"];
    let run: Vec<String> = run.iter().map(|a| (*a).to_owned()).chain([path(target.path()), path(&file)]).collect();
    let finished = cli.run(&run)?;
    ensure!(finished.code == Some(0), "{finished:?}");
    let export = ["--sysroot", &root, "experiment", "export", "last", "--format", "html", "-o", &path(&report)];
    let finished = cli.run(export)?;
    ensure!(finished.code == Some(0), "{finished:?}");
    let script = cli.run(["--sysroot", &root, "experiment", "export", "last", "--format", "script"])?;
    // Two blocks decide nothing, so there is nothing to apply.
    ensure!(script.stdout.starts_with("# Brakecheck ") && script.code == Some(2), "{script:?}");
    ensure!(script.stderr.contains("No change is recommended for latency"), "{script:?}");
    let again = cli.run(export)?;
    again.refused(2, &["exists already", "--force"])?;
    let refused = cli.run(["--sysroot", &root, "experiment", "export", "last", "--format", "pdf"])?;
    refused.refused(2, &["there is no form `pdf`"])?;
    in_browser("report", async |browser| {
        for (scheme, width) in [(Scheme::Dark, 1440), (Scheme::Light, 1440), (Scheme::Dark, 360)] {
            browser.scheme(scheme).await?;
            browser.size(width, 900).await?;
            browser.goto(format!("file://{}", path(&report))).await?;
            browser.see(".report .headline").await?;
            browser.see("svg.cost").await?;
            let shown = browser.eval("document.documentElement.scrollWidth").await?;
            ensure!(shown.as_u64().is_some_and(|w| w <= u64::from(width)), "{shown} wide on {width}");
            let title = browser.eval("document.title").await?;
            ensure!(title.as_str().is_some_and(|t| t.starts_with("Brakecheck: <script>")), "{title}");
            browser.picture(&format!("report-{width}-{scheme:?}")).await?;
        }
        ensure!(browser.eval("document.scripts.length").await? == 0, "no script");
        let bars = browser.eval("document.querySelectorAll('svg.levels rect').length").await?;
        ensure!(bars == 3, "{bars} bars of three configurations");
        browser.no_errors().await
    })
    .await
}
