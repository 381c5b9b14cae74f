//! The command line, run as a user runs it, on real filesystems and devices.

mod archive;
mod fio;
mod one_at_a_time;
mod refusals;
mod signals;
mod targets;
mod totals;

use anyhow::Result;
use serde_json::Value;
use std::path::Path;
use tests::Cli;

/// A short run on a directory, as JSON: 4 KiB direct accesses at depth 8 for half a second on 64 MiB.
fn short_run(cli: &Cli, target: &Path, rw: &str, more: &[&str]) -> Result<Value> {
    let mut command = cli.command(["bench", "--json", "--target"])?;
    command.arg(target).args(["--rw", rw, "--bs", "4k", "--iodepth", "8", "--size", "64m", "--runtime", "500ms"]);
    tests::Finished::of(command.args(more).spawn()?)?.json()
}

/// Names in a directory.
fn names(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "lost+found" {
            names.push(name);
        }
    }
    Ok(names)
}
