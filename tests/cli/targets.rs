//! Directories, filesystems and names that are out of the ordinary.

use crate::{names, short_run};
use anyhow::{Result, ensure};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use tests::{Cli, Disk, Finished, scratch};

#[test]
fn odd_names_are_names() -> Result<()> {
    let cli = Cli::new()?;
    let dir = scratch()?;
    for name in ["with space", "with:colon", "größe 漢字", "line\nbreak", "-rw", "100%d"] {
        let target = dir.path().join(name);
        std::fs::create_dir(&target)?;
        let record = short_run(&cli, &target, "randread", &[])?;
        ensure!(record["state"] == "done", "{name:?}: {record}");
        ensure!(names(&target)?.is_empty(), "{name:?}: {:?} is left", names(&target)?);
    }
    Ok(())
}

#[test]
fn a_name_that_is_not_utf8_is_refused_in_words() -> Result<()> {
    let cli = Cli::new()?;
    let dir = scratch()?;
    let target = dir.path().join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&target)?;
    let mut command = cli.command(["bench", "--rw", "randread", "--target"])?;
    let finished = Finished::of(command.arg(&target).spawn()?)?;
    ensure!(matches!(finished.code, Some(2 | 3)), "{finished:?}");
    ensure!(finished.stderr.contains("UTF-8"), "{}", finished.stderr);
    Ok(())
}

#[test]
fn a_read_only_mount_is_refused() -> Result<()> {
    let cli = Cli::new()?;
    let Some(disk) = Disk::with("ext4", 64)? else { return Ok(()) };
    disk.remount("ro")?;
    let mut command = cli.command(["bench", "--rw", "randread", "--size", "16m", "--target"])?;
    Finished::of(command.arg(disk.path()).spawn()?)?.refused(3, &["read-only"])
}

#[test]
fn a_file_larger_than_the_free_space_is_refused() -> Result<()> {
    let cli = Cli::new()?;
    let Some(disk) = Disk::with("xfs", 512)? else { return Ok(()) };
    let mut command = cli.command(["bench", "--rw", "randread", "--size", "1g", "--target"])?;
    Finished::of(command.arg(disk.path()).spawn()?)?.refused(3, &["free"])?;
    ensure!(names(&disk.path())?.is_empty(), "{:?} is left", names(&disk.path())?);
    Ok(())
}

#[test]
fn tmpfs_is_refused_unless_buffered() -> Result<()> {
    let cli = Cli::new()?;
    let shm = std::path::Path::new("/dev/shm");
    if rustix::fs::statfs(shm).is_ok_and(|s| s.f_type != 0x0102_1994) {
        eprintln!("skipped: /dev/shm is no tmpfs here");
        return Ok(());
    }
    let dir = tempfile::tempdir_in(shm)?;
    let mut command = cli.command(["bench", "--rw", "randread", "--size", "16m", "--target"])?;
    Finished::of(command.arg(dir.path()).spawn()?)?.refused(3, &["tmpfs", "--buffered"])?;
    let record = short_run(&cli, dir.path(), "randread", &["--buffered"])?;
    ensure!(record["results"][0]["path"]["kind"] == "page-cache", "{record}");
    ensure!(names(dir.path())?.is_empty(), "{:?} is left", names(dir.path())?);
    Ok(())
}

#[test]
fn a_directory_of_somebody_else_is_refused() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become somebody else");
        return Ok(());
    }
    // Away from the build, which may lie where nobody may look.
    let dir = tempfile::tempdir_in("/var/tmp")?;
    let bin = dir.path().join("brakecheck");
    std::fs::copy(tests::program()?, &bin)?;
    let (target, state) = (dir.path().join("target"), dir.path().join("state"));
    for dir in [&target, &state] {
        std::fs::create_dir(dir)?;
    }
    std::os::unix::fs::chown(&state, Some(65534), Some(65534))?;
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), open)?;
    let child = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&bin)
        .arg("--state-dir")
        .arg(&state)
        .args(["bench", "--rw", "randread", "--size", "16m", "--target"])
        .arg(&target)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()?;
    let finished = Finished::of(child)?;
    ensure!(matches!(finished.code, Some(3 | 5)), "{finished:?}");
    ensure!(finished.stderr.contains("target"), "{}", finished.stderr);
    Ok(())
}

#[test]
fn numbers_are_the_same_in_every_locale() -> Result<()> {
    let cli = Cli::new()?;
    let dir = scratch()?;
    let mut command = cli.command(["bench", "--rw", "randread", "--size", "16m", "--runtime", "100ms", "--target"])?;
    let finished = Finished::of(command.arg(dir.path()).env("LC_ALL", "de_DE.UTF-8").spawn()?)?;
    ensure!(finished.code == Some(0), "{finished:?}");
    let decimal = |separator: char| {
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        finished.stdout.match_indices(separator).any(|(at, _)| {
            digit(finished.stdout[..at].chars().last()) && digit(finished.stdout[at + 1..].chars().next())
        })
    };
    ensure!(decimal('.') && !decimal(','), "{}", finished.stdout);
    Ok(())
}
