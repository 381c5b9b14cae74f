//! `--output-format fio-json` against fio itself: a program written for fio's output must find everything in ours.

use anyhow::{Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tests::{Cli, Finished, scratch};

fn fio(dir: &Path) -> Result<Value> {
    let output = Command::new("fio")
        .args(["--name=x", "--rw=randrw", "--bs=4k", "--iodepth=4", "--ioengine=io_uring", "--direct=1", "--size=16m"])
        .args(["--runtime=0.5", "--time_based", "--output-format=json"])
        .arg(format!("--directory={}", dir.display()))
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn ours(dir: &Path) -> Result<Value> {
    let cli = Cli::new()?;
    let mut command = cli.command(["bench", "--output-format", "fio-json", "--rw", "randrw", "--bs", "4k"])?;
    command.args(["--iodepth", "4", "--size", "16m", "--runtime", "500ms", "--target"]).arg(dir);
    Finished::of(command.spawn()?)?.json()
}

/// Every key of fio's that ours lacks, or has with another type, as a path. Keys that name things of one's own
/// (options, disks) are left out.
fn missing(fio: &Value, ours: &Value, path: &str, found: &mut Vec<String>) {
    match (fio, ours) {
        _ if path.ends_with("job options") || path.ends_with("disk_util") || path.ends_with("percentile") => {}
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                let path = format!("{path}/{key}");
                match b.get(key) {
                    Some(other) => missing(value, other, &path, found),
                    None => found.push(path),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            if let (Some(a), Some(b)) = (a.first(), b.first()) {
                missing(a, b, path, found);
            }
        }
        (Value::Number(_), Value::Number(_)) | (Value::String(_), Value::String(_)) => {}
        _ => found.push(format!("{path}: {fio} against {ours}")),
    }
}

#[test]
fn everything_that_fio_says_is_in_ours() -> Result<()> {
    let dir = scratch()?;
    let (fio, ours) = (fio(dir.path())?, ours(dir.path())?);
    let mut found = Vec::new();
    missing(&fio, &ours, "", &mut found);
    ensure!(found.is_empty(), "{found:#?}");
    Ok(())
}

#[test]
fn the_numbers_fit_together_as_fios_do() -> Result<()> {
    let dir = scratch()?;
    for (who, report) in [("fio", fio(dir.path())?), ("ours", ours(dir.path())?)] {
        let read = &report["jobs"][0]["read"];
        let number = |name: &str| read[name].as_f64().unwrap_or(f64::NAN);
        let near = |what: &str, a: f64, b: f64, tolerance: f64| {
            ensure!((a - b).abs() <= tolerance * b.abs().max(1.0), "{who}: {what}: {a} against {b}");
            Ok(())
        };
        near("io_bytes = total_ios x bs", number("io_bytes"), number("total_ios") * 4096.0, 0.0)?;
        near("io_kbytes", number("io_kbytes"), number("io_bytes") / 1024.0, 0.001)?;
        near("bw is in KiB/s", number("bw"), number("bw_bytes") / 1024.0, 0.001)?;
        near("iops = ios over runtime in ms", number("iops"), number("total_ios") / number("runtime") * 1e3, 0.02)?;
        let clat = &read["clat_ns"];
        let percentiles = clat["percentile"].as_object().map(serde_json::Map::len);
        ensure!(percentiles == Some(17), "{who}: {percentiles:?} percentiles");
        let p50 = clat["percentile"]["50.000000"].as_f64().unwrap_or(f64::NAN);
        let (min, max) = (clat["min"].as_f64().unwrap_or(f64::NAN), clat["max"].as_f64().unwrap_or(f64::NAN));
        ensure!(min <= p50 && p50 <= max, "{who}: {clat}");
        near("every access has a latency", clat["N"].as_f64().unwrap_or(f64::NAN), number("total_ios"), 0.001)?;
    }
    Ok(())
}
