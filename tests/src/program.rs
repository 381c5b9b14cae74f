//! The program under test, as a command.

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The program: `BRAKECHECK_BIN`, else what cargo built beside the running test.
pub fn program() -> Result<PathBuf> {
    let path = match std::env::var_os("BRAKECHECK_BIN") {
        Some(path) => PathBuf::from(path),
        None => target_dir()?.join("brakecheck"),
    };
    ensure!(path.is_file(), "{} is not there; `make test` builds it", path.display());
    Ok(path)
}

/// `target/debug` or `target/release`: tests lie in `deps` under it, programs in it.
fn target_dir() -> Result<PathBuf> {
    let exe = std::env::current_exe()?;
    let dir = exe.parent().context("an executable has a directory")?;
    Ok(if dir.ends_with("deps") { dir.parent().context("deps has a parent")?.into() } else { dir.into() })
}

/// A fresh directory on the disk that holds the build, removed on drop. (`/tmp` may be a tmpfs, which is no disk.)
/// Where other users cannot reach the build, under `/var/tmp`: a server that root starts is another user.
pub fn scratch() -> Result<TempDir> {
    let parent = target_dir()?.join("scratch");
    if geteuid().is_root() && !is_open(&parent) {
        return Ok(tempfile::tempdir_in("/var/tmp")?);
    }
    std::fs::create_dir_all(&parent)?;
    Ok(tempfile::tempdir_in(parent)?)
}

/// Whether everybody may pass every directory above `path` that exists.
fn is_open(path: &Path) -> bool {
    let closed = |dir: &Path| dir.metadata().is_ok_and(|m| m.permissions().mode() & 0o001 == 0);
    !path.ancestors().skip(1).any(closed)
}

/// The user that a server started by root becomes in these tests; `None` if we are not root.
pub fn server_user() -> Option<&'static str> {
    geteuid().is_root().then_some("nobody")
}

/// Has `dir` belong to the user that the server becomes.
pub fn give_to_server(dir: &Path) -> Result<()> {
    let Some(user) = server_user() else { return Ok(()) };
    let passwd = std::fs::read_to_string("/etc/passwd")?;
    let line = passwd.lines().find(|line| line.split(':').next() == Some(user));
    let line = line.with_context(|| format!("there is no user {user}"))?;
    let id = |n: usize| line.split(':').nth(n).and_then(|id| id.parse().ok());
    Ok(chown(dir, id(2), id(3))?)
}

/// Sends a signal to a process we started.
pub fn send(child: &Child, signal: Signal) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(child.id())?).context("a process has an id")?;
    Ok(kill_process(pid, signal)?)
}

/// The command line with a state directory of its own.
#[derive(Debug)]
pub struct Cli {
    state: TempDir,
}

impl Cli {
    /// A fresh state directory.
    pub fn new() -> Result<Self> {
        Ok(Self { state: scratch()? })
    }

    /// Where journal and results go.
    pub fn state_dir(&self) -> &std::path::Path {
        self.state.path()
    }

    /// A command with piped output, not yet started.
    pub fn command(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Command> {
        let mut command = Command::new(program()?);
        command.arg("--state-dir").arg(self.state_dir()).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    /// Runs to the end.
    pub fn run(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Finished> {
        Finished::of(self.command(args)?.spawn()?)
    }
}

/// How a command ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit code; absent when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Finished {
    /// Waits for the end.
    pub fn of(child: Child) -> Result<Self> {
        let output = child.wait_with_output()?;
        Ok(Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout)?,
            stderr: String::from_utf8(output.stderr)?,
        })
    }

    /// Standard output as JSON, after exit code 0.
    pub fn json(&self) -> Result<serde_json::Value> {
        ensure!(self.code == Some(0), "exit code {:?}: {}", self.code, self.stderr);
        serde_json::from_str(&self.stdout).with_context(|| self.stdout.clone())
    }

    /// Fails unless the command ended with this code and said this on standard error.
    pub fn refused(&self, code: i32, words: &[&str]) -> Result<()> {
        ensure!(self.code == Some(code), "exit code {:?} instead of {code}\n{}{}", self.code, self.stdout, self.stderr);
        for word in words {
            ensure!(self.stderr.contains(word), "`{word}` is not in: {}", self.stderr);
        }
        ensure!(!self.stderr.contains("panicked"), "{}", self.stderr);
        Ok(())
    }
}
