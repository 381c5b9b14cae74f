//! What cannot or must not be run: the exit code, the words, and nothing changed.

use anyhow::{Result, ensure};
use std::path::Path;
use tests::{Cli, Disk, Finished, scratch};

/// `brakecheck bench` on a directory with further arguments must end so.
fn bench(cli: &Cli, target: &Path, args: &[&str], code: i32, words: &[&str]) -> Result<()> {
    let mut command = cli.command(["bench", "--target"])?;
    Finished::of(command.arg(target).args(args).spawn()?)?.refused(code, words)
}

#[test]
fn wrong_arguments_end_with_2_and_name_what_is_wrong() -> Result<()> {
    let cli = Cli::new()?;
    let dir = scratch()?;
    let cases: [(&[&str], &[&str]); 13] = [
        (&["--rw", "randread", "--bs", "0"], &["bs"]),
        (&["--rw", "randread", "--bs", "1000"], &["bs", "512"]),
        (&["--rw", "randread", "--bs", "99999999999999999999"], &["bs"]),
        (&["--rw", "randread", "--bs", "1m", "--size", "64k"], &["size"]),
        (&["--rw", "randread", "--iodepth", "0"], &["iodepth"]),
        (&["--rw", "randread", "--iodepth", "1025"], &["iodepth", "1..=1024"]),
        (&["--rw", "randread", "--iodepth", "99999999999"], &["iodepth", "1..=1024"]),
        (&["--rw", "randread", "--repetitions", "0"], &["repetitions", "1..=100"]),
        (&["--rw", "randread", "--numjobs", "0"], &["numjobs"]),
        (&["--rw", "randread", "--offset", "16e"], &["offset"]),
        (&["--rw", "randread", "--runtime", "0"], &["runtime"]),
        (&["--rw", "sideways"], &["sideways", "randread"]),
        (&["--rw", "randread", "--wait", "patiently"], &["patiently", "epoll"]),
    ];
    for (args, words) in cases {
        bench(&cli, dir.path(), args, 2, words)?;
    }
    cli.run(["preset", "cdm9", "--target", "/var/tmp"])?.refused(2, &["cdm9", "cdm8"])?;
    ensure!(dir.path().read_dir()?.next().is_none(), "something was left in the directory");
    Ok(())
}

#[test]
fn json_names_the_argument_that_is_missing_or_misspelt() -> Result<()> {
    let cli = Cli::new()?;
    for (args, message, hint) in [
        (&["--json", "check"][..], "the following required arguments were not provided: --target <PATH>", None),
        (
            &["--json", "check", "--taget", "/"],
            "unexpected argument '--taget' found",
            Some("a similar argument exists: '--target'"),
        ),
    ] {
        let finished = cli.run(args)?;
        let said: serde_json::Value = serde_json::from_str(&finished.stdout)?;
        ensure!(finished.code == Some(2) && said["error"]["message"] == message, "{finished:?}");
        ensure!(said["error"]["hint"].as_str() == hint, "{finished:?}");
    }
    Ok(())
}

#[test]
fn a_missing_directory_is_refused() -> Result<()> {
    let cli = Cli::new()?;
    let dir = scratch()?;
    bench(&cli, &dir.path().join("absent"), &["--rw", "randread"], 3, &["absent"])
}

#[test]
fn writes_to_what_is_not_ours_are_refused_and_nothing_is_written() -> Result<()> {
    let cli = Cli::new()?;
    let Some(disk) = Disk::bare(16)? else { return Ok(()) };
    let (before, counted) = (std::fs::read(disk.image())?, disk.stat()?);
    let links = scratch()?;
    let link = links.path().join("by-id");
    std::os::unix::fs::symlink(disk.device(), &link)?;
    let file = links.path().join("precious");
    std::fs::write(&file, vec![9; 1 << 20])?;
    for rw in ["write", "randwrite", "rw", "randrw"] {
        for target in [disk.device(), &link, &file] {
            bench(&cli, target, &["--rw", rw, "--bs", "4k", "--size", "1m"], 3, &[])?;
        }
    }
    ensure!(std::fs::read(disk.image())? == before, "the device changed");
    ensure!(std::fs::read(&file)? == vec![9; 1 << 20], "the file changed");
    ensure!(disk.stat()?.write_bytes == counted.write_bytes, "the device was written to");
    Ok(())
}

#[test]
fn a_block_smaller_than_the_drives_is_refused() -> Result<()> {
    let cli = Cli::new()?;
    let Some(disk) = Disk::with_sector(4096, 64)? else { return Ok(()) };
    bench(&cli, disk.device(), &["--rw", "randread", "--bs", "512"], 2, &["4096"])
}
