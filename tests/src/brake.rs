//! A real cost that follows one setting: a control group's limit of reads a second.

use crate::Disk;
use anyhow::{Context, Result, ensure};
use rustix::fs::inotify;
use std::fmt;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

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
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let root = Path::new("/sys/fs/cgroup");
        let stat = rustix::fs::stat(device)?;
        let device = format!("{}:{}", rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
        let controllers = fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
        let version2 = controllers.split_whitespace().any(|c| c == "io");
        let parent = if version2 { root.to_owned() } else { root.join("blkio") };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = parent.join(format!("brakecheck-test-{}-{number}", std::process::id()));
        let enabled = !version2 || fs::write(root.join("cgroup.subtree_control"), "+io").is_ok();
        if !enabled || fs::create_dir(&dir).is_err() {
            eprintln!("skipped: no control group may limit a device here");
            return Ok(None);
        }
        Ok(Some(Self { dir, device, version2 }))
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

/// What a brake follows, and what it costs.
///
/// The kernel hands out a tenth of the reads every tenth of a second (`throtl_slice` in `block/blk-throttle.c`; every
/// fiftieth on some kernels): rates that 50 divides, and trials that begin and end between two such instants, make the
/// cost exact.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The file of the setting.
    pub file: PathBuf,
    /// What it says while the setting saves.
    pub saving: String,
    /// Reads a second then.
    pub slowed: u32,
    /// Reads a second otherwise: slow enough for any disk.
    pub full: u32,
}

impl Cost {
    fn now(&self) -> Result<u32> {
        let saves = fs::read_to_string(&self.file)?.trim() == self.saving;
        Ok(if saves { self.slowed } else { self.full })
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} reads/s instead of {} while {} is {}", self.slowed, self.full, self.file.display(), self.saving)
    }
}

/// Slows the reads of some processes while a setting saves; ended on drop.
#[derive(Debug)]
pub struct Brake {
    file: PathBuf,
    procs: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Brake {
    /// On reads of this disk. `None`, with a word on why, where it cannot be had.
    pub fn new(disk: &Disk, cost: Cost) -> Result<Option<Self>> {
        let Some(group) = Group::new(disk.device())? else { return Ok(None) };
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC)?;
        inotify::add_watch(&watch, &cost.file, inotify::WatchFlags::MODIFY | inotify::WatchFlags::CLOSE_WRITE)?;
        group.limit(cost.now()?)?;
        let (over, procs) = (Arc::new(AtomicBool::new(false)), group.dir.join("cgroup.procs"));
        let file = cost.file.clone();
        let thread = std::thread::spawn({
            let over = Arc::clone(&over);
            move || follow(&group, &watch, &cost, &over).with_context(|| cost.to_string())
        });
        Ok(Some(Self { file, procs, over, thread: Some(thread) }))
    }

    /// Slows this process.
    pub fn take(&self, process: u32) -> Result<()> {
        Ok(fs::write(&self.procs, process.to_string())?)
    }
}

fn follow(group: &Group, watch: &OwnedFd, cost: &Cost, over: &AtomicBool) -> Result<()> {
    let mut buffer = [0; 4096];
    let mut limit = 0;
    while !over.load(Ordering::Relaxed) {
        let now = cost.now()?;
        // Whatever is written begins a new tenth of a second.
        if now != limit {
            group.limit(now)?;
            limit = now;
        }
        ensure!(rustix::io::read(watch, &mut buffer)? > 0, "the watch ended");
    }
    Ok(())
}

impl Drop for Brake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let woken = fs::read(&self.file).and_then(|text| fs::write(&self.file, text));
        if let (Ok(()), Some(thread)) = (woken, self.thread.take())
            && let Ok(Err(error)) = thread.join()
        {
            eprintln!("the brake failed: {error:#}");
        }
    }
}
