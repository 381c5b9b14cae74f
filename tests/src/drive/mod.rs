//! A drive whose every read takes the same time: a filesystem in user space with one file, behind a loop device.
//!
//! Disks of rented machines, and control groups that hand out reads ten times a second, answer too unevenly to tell a
//! per cent in one trial. This one answers at instants worked out in advance, by threads that nothing else on the
//! machine goes before.

mod image;
mod pace;

use crate::Disk;
use crate::follow::{Follower, Setting};
use anyhow::{Context, Result};
use image::{Image, NAME};
use pace::Clock;
pub use pace::Pace;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Reads that can be under way at once.
const CHANNELS: usize = 8;

/// The drive, with a filesystem on it; taken down on drop.
#[derive(Debug)]
pub struct Drive {
    // In the order in which they go.
    disk: Disk,
    _session: Session,
    clock: Arc<Clock>,
    /// While it is open, no CPU sleeps so deep that waking up takes time (`Documentation/power/pm_qos_interface.rst`).
    _awake: Option<File>,
}

#[derive(Debug)]
struct Session {
    mounted: Option<fuser::BackgroundSession>,
    at: TempDir,
}

impl Drive {
    /// Makes one with `mkfs.{filesystem}`; `None`, with a word on why, where that is not possible.
    pub fn with(filesystem: &str, mib: u64, pace: Pace) -> Result<Option<Self>> {
        let clock = Arc::new(Clock::new(pace));
        let at = TempDir::new()?;
        let image = Image::new(mib << 20, Arc::clone(&clock))?;
        let mut config = fuser::Config::default();
        (config.n_threads, config.clone_fd) = (Some(CHANNELS), true);
        let session = match fuser::spawn_mount(image, at.path(), &config) {
            Ok(mounted) => Session { mounted: Some(mounted), at },
            Err(error) => {
                eprintln!("skipped: cannot mount a FUSE filesystem here ({error}): needs root and /dev/fuse");
                return Ok(None);
            }
        };
        let Some(disk) = Disk::behind(&session.at.path().join(NAME))? else { return Ok(None) };
        let disk = disk.mounted(filesystem)?;
        Ok(Some(Self { disk, _session: session, clock, _awake: stay_awake() }))
    }

    /// Where the filesystem is mounted.
    pub fn path(&self) -> PathBuf {
        self.disk.path()
    }

    /// Makes each read take so many times as long while a setting saves, as long as what is returned lives.
    pub fn slowed(&self, times: f64, setting: Setting) -> Result<Follower> {
        let clock = Arc::clone(&self.clock);
        Follower::new(setting, move |saves| {
            clock.slow(if saves { times } else { 1.0 });
            Ok(())
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(session) = self.mounted.take()
            && let Err(error) = session.umount_and_join()
        {
            eprintln!("cannot unmount {}: {error}", self.at.path().display());
        }
    }
}

/// `None` where the kernel has no such file.
fn stay_awake() -> Option<File> {
    let mut file = File::options().write(true).open(Path::new("/dev/cpu_dma_latency")).ok()?;
    file.write_all(&0i32.to_ne_bytes()).ok()?;
    Some(file)
}

/// Puts the calling thread before everything else on this machine, on the first processor: the engine measures on the
/// last, and waking a thread elsewhere takes another time each time.
fn go_first() -> Result<()> {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    for (tool, options) in [("chrt", &["--fifo", "--pid", "50"][..]), ("taskset", &["--cpu-list", "--pid", "0"])] {
        let done = std::process::Command::new(tool).args(options).arg(&thread).output().context(tool)?;
        anyhow::ensure!(done.status.success(), "{tool}: {}", String::from_utf8_lossy(&done.stderr));
    }
    Ok(())
}
