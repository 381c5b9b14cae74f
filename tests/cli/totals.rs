//! What a run says it moved, against what the kernel counted.

use crate::short_run;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tests::{Cli, Disk};

const MIB: u64 = 1 << 20;
const FILESYSTEMS: [&str; 3] = ["ext4", "xfs", "btrfs"];

fn bytes(record: &Value, direction: &str) -> Result<u64> {
    record["results"][0][direction]["bytes"].as_u64().with_context(|| format!("{direction} bytes: {record}"))
}

/// `counted` is at least what was reported, and at most 2 % plus `slack` above it.
fn agrees(what: &str, reported: u64, counted: u64, slack: u64) -> Result<()> {
    let most = reported + reported / 50 + slack;
    ensure!((reported..=most).contains(&counted), "{what}: reported {reported}, counted {counted}");
    Ok(())
}

#[test]
fn direct_reads_reach_the_device_and_nothing_else_does() -> Result<()> {
    let cli = Cli::new()?;
    for filesystem in FILESYSTEMS {
        let Some(disk) = Disk::with(filesystem, 512)? else { return Ok(()) };
        let before = disk.stat()?;
        let record = short_run(&cli, &disk.path(), "randread", &[])?;
        let after = disk.stat()?;
        let read = bytes(&record, "read")?;
        ensure!(read > MIB, "{filesystem}: only {read} bytes");
        agrees(filesystem, read, after.read_bytes - before.read_bytes, MIB)?;
        ensure!(record["results"][0]["path"]["kind"] == "direct", "{filesystem}: {}", record["results"][0]["path"]);
    }
    Ok(())
}

#[test]
fn direct_writes_reach_the_device() -> Result<()> {
    let cli = Cli::new()?;
    for filesystem in FILESYSTEMS {
        let Some(disk) = Disk::with(filesystem, 512)? else { return Ok(()) };
        let before = disk.stat()?;
        let record = short_run(&cli, &disk.path(), "randwrite", &[])?;
        let after = disk.stat()?;
        let written = bytes(&record, "write")?;
        // The file's layout is written too; journals and checksums add their part.
        agrees(filesystem, written + 64 * MIB, after.write_bytes - before.write_bytes, 64 * MIB)?;
    }
    Ok(())
}

#[test]
fn buffered_reads_of_a_cached_file_do_not_reach_the_device() -> Result<()> {
    let cli = Cli::new()?;
    let Some(disk) = Disk::with("ext4", 128)? else { return Ok(()) };
    let file = disk.path().join("file");
    std::fs::write(&file, vec![7; 64 << 20])?;
    rustix::fs::sync();
    let before = disk.stat()?;
    let record = short_run(&cli, &file, "randread", &["--buffered", "--invalidate", "0"])?;
    let after = disk.stat()?;
    ensure!(bytes(&record, "read")? > 64 * MIB, "{record}");
    ensure!(after.read_bytes - before.read_bytes < MIB, "the device read {}", after.read_bytes - before.read_bytes);
    ensure!(record["results"][0]["path"]["kind"] == "page-cache", "{}", record["results"][0]["path"]);
    Ok(())
}

#[test]
fn a_device_is_read_whole_and_stays_as_it_was() -> Result<()> {
    let cli = Cli::new()?;
    let Some(disk) = Disk::bare(64)? else { return Ok(()) };
    let before = disk.stat()?;
    let mut command =
        cli.command(["bench", "--json", "--rw", "read", "--bs", "1m", "--runtime", "500ms", "--filename"])?;
    let record = tests::Finished::of(command.arg(disk.device()).spawn()?)?.json()?;
    let after = disk.stat()?;
    ensure!(record["target"]["kind"] == "block-device", "{}", record["target"]);
    agrees("loop device", bytes(&record, "read")?, after.read_bytes - before.read_bytes, 2 * MIB)?;
    ensure!(after.write_bytes == before.write_bytes, "the device was written to");
    Ok(())
}
