//! A machine as a directory tree, and a real cost that follows one of its settings.

use anyhow::{Context, Result, ensure};
use rustix::fs::inotify;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tempfile::TempDir;
use tests::scratch;

/// Turbo, energy preference and governor of two CPUs.
const FILES: [(&str, &str); 12] = [
    ("proc/sys/kernel/random/boot_id", "6f1c9a3e-0000-4000-8000-000000000000"),
    ("sys/devices/system/cpu/online", "0-1"),
    ("sys/devices/system/cpu/present", "0-1"),
    ("sys/devices/system/cpu/intel_pstate/status", "active"),
    (TURBO, "0"),
    ("sys/devices/system/cpu/cpu0/power/energy_perf_bias", "6"),
    ("sys/devices/system/cpu/cpu1/power/energy_perf_bias", "6"),
    ("sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0 1"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "intel_pstate"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors", "performance powersave"),
    ("sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference", "balance_performance"),
];
/// 1 while turbo is off.
const TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";

/// The tree, removed on drop.
#[derive(Debug)]
pub(crate) struct Machine(TempDir);

impl Machine {
    pub(crate) fn new() -> Result<Self> {
        let machine = Self(scratch()?);
        for (path, text) in FILES {
            let path = machine.0.path().join(path);
            fs::create_dir_all(path.parent().context("below the tree")?)?;
            fs::write(path, format!("{text}\n"))?;
        }
        Ok(machine)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The first setting that is not as it was found.
    pub(crate) fn changed(&self) -> Option<&'static str> {
        let as_found = |(path, text): &(&str, &str)| {
            fs::read_to_string(self.0.path().join(path)).is_ok_and(|now| now.trim() == *text)
        };
        FILES.iter().find(|file| !as_found(file)).map(|(path, _)| *path)
    }
}

/// A control group whose reads of one device are limited, so many a second.
#[derive(Debug)]
struct Group {
    dir: PathBuf,
    device: String,
    version2: bool,
}

impl Group {
    /// `None`, with a word on why, where there is no such control.
    fn new(device: &Path) -> Result<Option<Self>> {
        let root = Path::new("/sys/fs/cgroup");
        let stat = rustix::fs::stat(device)?;
        let device = format!("{}:{}", rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
        let controllers = fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
        let version2 = controllers.split_whitespace().any(|c| c == "io");
        let parent = if version2 { root.to_owned() } else { root.join("blkio") };
        let dir = parent.join(format!("brakecheck-test-{}", std::process::id()));
        let enabled = !version2 || fs::write(root.join("cgroup.subtree_control"), "+io").is_ok();
        if !enabled || fs::create_dir(&dir).is_err() {
            eprintln!("skipped: no control group may limit a device here");
            return Ok(None);
        }
        let group = Self { dir, device, version2 };
        group.limit(1000).map(|()| Some(group))
    }

    fn limit(&self, per_second: u32) -> Result<()> {
        let (file, text) = if self.version2 {
            ("io.max", format!("{} riops={per_second}", self.device))
        } else {
            ("blkio.throttle.read_iops_device", format!("{} {per_second}", self.device))
        };
        fs::write(self.dir.join(file), text).with_context(|| format!("{}: {file}", self.dir.display()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.dir) {
            eprintln!("{}: {error}", self.dir.display());
        }
    }
}

/// Half the reads a second while turbo is off; ended on drop.
#[derive(Debug)]
pub(crate) struct Brake {
    turbo: PathBuf,
    procs: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<()>>>,
}

/// Reads a second at full speed: slow enough for any disk.
const FULL: u32 = 200;

impl Brake {
    /// `None` where it cannot be had.
    pub(crate) fn new(machine: &Machine, device: &Path) -> Result<Option<Self>> {
        let Some(group) = Group::new(device)? else { return Ok(None) };
        let turbo = machine.path().join(TURBO);
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC)?;
        inotify::add_watch(&watch, &turbo, inotify::WatchFlags::MODIFY | inotify::WatchFlags::CLOSE_WRITE)?;
        let (over, procs) = (Arc::new(AtomicBool::new(false)), group.dir.join("cgroup.procs"));
        let thread = std::thread::spawn({
            let (over, turbo) = (Arc::clone(&over), turbo.clone());
            move || follow(&group, &watch, &turbo, &over)
        });
        Ok(Some(Self { turbo, procs, over, thread: Some(thread) }))
    }

    /// Slows this process.
    pub(crate) fn take(&self, process: u32) -> Result<()> {
        Ok(fs::write(&self.procs, process.to_string())?)
    }
}

fn follow(group: &Group, watch: &OwnedFd, turbo: &Path, over: &AtomicBool) -> Result<()> {
    let mut buffer = [0; 4096];
    while !over.load(Ordering::Relaxed) {
        let off = fs::read_to_string(turbo)?.trim() == "1";
        group.limit(if off { FULL / 2 } else { FULL })?;
        ensure!(rustix::io::read(watch, &mut buffer)? > 0, "the watch ended");
    }
    Ok(())
}

impl Drop for Brake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let woken = fs::read(&self.turbo).and_then(|text| fs::write(&self.turbo, text));
        if let (Ok(()), Some(thread)) = (woken, self.thread.take())
            && let Ok(Err(error)) = thread.join()
        {
            eprintln!("the brake failed: {error:#}");
        }
    }
}
