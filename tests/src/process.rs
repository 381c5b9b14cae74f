//! Processes that are not our children: found by their parent, killed and waited for by descriptor, so that a number
//! that has come to mean another process is no danger.

use anyhow::{Context, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Whatever takes longer hangs.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Some process.
#[derive(Debug)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    pidfd: OwnedFd,
}

impl Process {
    /// The process with this number.
    pub fn of(pid: u32) -> Result<Self> {
        let raw = Pid::from_raw(i32::try_from(pid)?).context("a process has a number")?;
        Ok(Self { pid, pidfd: pidfd_open(raw, PidfdFlags::empty())? })
    }

    /// The child of `parent` that is this subcommand of the program; waits until there is one, other than `not`.
    pub fn child(parent: u32, subcommand: &str, not: Option<u32>) -> Result<Self> {
        await_that(&format!("{parent} has a {subcommand}"), || {
            let found = children(parent).into_iter().find(|&pid| is(pid, subcommand) && Some(pid) != not);
            Ok(found.and_then(|pid| Self::of(pid).ok()))
        })
    }

    /// Sends a signal. A process that has ended has no use for it.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        match pidfd_send_signal(&self.pidfd, signal) {
            Err(e) if e != rustix::io::Errno::SRCH => Err(e.into()),
            _ => Ok(()),
        }
    }

    /// Waits for its end.
    pub fn ended(&self) -> Result<()> {
        let patience = Timespec::try_from(PATIENCE)?;
        let ended = poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&patience))?;
        ensure!(ended == 1, "process {} does not end", self.pid);
        Ok(())
    }

    /// A line of `/proc/PID/status`.
    pub fn status(&self, name: &str) -> Result<String> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid))?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        Ok(line.with_context(|| format!("no {name}"))?.trim().to_owned())
    }
}

impl Process {
    /// CPU time in s that those of its threads have used whose names begin so.
    pub fn cpu_seconds(&self, threads: &str) -> Result<f64> {
        let mut ticks = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.pid))? {
            // A thread may end meanwhile.
            let Ok(stat) = std::fs::read_to_string(task?.path().join("stat")) else { continue };
            let (name, rest) = stat.rsplit_once(')').context("a thread has a name")?;
            if name.split_once('(').is_some_and(|(_, name)| name.starts_with(threads)) {
                let times = rest.split_ascii_whitespace().skip(11).take(2).map(str::parse::<u64>);
                ticks += times.sum::<Result<u64, _>>()?;
            }
        }
        Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
    }

    /// The most memory that it had at one time, in MiB.
    pub fn peak_mib(&self) -> Result<f64> {
        let kib: f64 = self.status("VmHWM")?.trim_end_matches(" kB").trim().parse()?;
        Ok(kib / 1024.0)
    }
}

/// Asks until there is an answer.
pub fn await_that<T>(what: &str, mut ask: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        ensure!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|&pid| parent_of(pid) == Some(parent)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last parenthesis may hold anything.
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

fn is(pid: u32, subcommand: &str) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|&b| b == 0).nth(1) == Some(subcommand.as_bytes())
}
