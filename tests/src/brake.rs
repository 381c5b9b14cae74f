//! A real cost that follows one setting: a control group's limit of reads a second.

use crate::Disk;
use crate::follow::{Follower, Setting};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

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
    /// What it follows.
    pub setting: Setting,
    /// Reads a second while that saves.
    pub slowed: u32,
    /// Reads a second otherwise: slow enough for any disk.
    pub full: u32,
}

/// Slows the reads of some processes while a setting saves; ended on drop.
#[derive(Debug)]
pub struct Brake {
    procs: PathBuf,
    _follower: Follower,
}

impl Brake {
    /// On reads of this disk. `None`, with a word on why, where it cannot be had.
    pub fn new(disk: &Disk, cost: Cost) -> Result<Option<Self>> {
        let Some(group) = Group::new(disk.device())? else { return Ok(None) };
        let procs = group.dir.join("cgroup.procs");
        let Cost { setting, slowed, full } = cost;
        // Whatever is written begins a new tenth of a second.
        let follower = Follower::new(setting, move |saves| group.limit(if saves { slowed } else { full }))?;
        Ok(Some(Self { procs, _follower: follower }))
    }

    /// Slows this process.
    pub fn take(&self, process: u32) -> Result<()> {
        Ok(fs::write(&self.procs, process.to_string())?)
    }
}
