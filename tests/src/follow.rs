//! What follows one setting: whoever is told of each change of its file.

use anyhow::{Result, ensure};
use rustix::fs::inotify;
use std::fmt;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A setting that a cost can be planted on.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its file.
    pub file: PathBuf,
    /// What that says while the setting saves.
    pub saving: String,
}

impl Setting {
    fn saves(&self) -> Result<bool> {
        Ok(fs::read_to_string(&self.file)?.trim() == self.saving)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.file.display(), self.saving)
    }
}

/// Tells of each change; ended on drop.
#[derive(Debug)]
pub struct Follower {
    setting: Setting,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Follower {
    /// Calls `change` with whether the setting saves: here for the first time, and then whenever that is another.
    pub(crate) fn new(setting: Setting, mut change: impl FnMut(bool) -> Result<()> + Send + 'static) -> Result<Self> {
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC)?;
        inotify::add_watch(&watch, &setting.file, inotify::WatchFlags::MODIFY | inotify::WatchFlags::CLOSE_WRITE)?;
        let now = setting.saves()?;
        change(now)?;
        let over = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (setting, over) = (setting.clone(), Arc::clone(&over));
            move || follow(&watch, &setting, now, &over, change)
        });
        Ok(Self { setting, over, thread: Some(thread) })
    }
}

fn follow(
    watch: &OwnedFd,
    setting: &Setting,
    mut known: bool,
    over: &AtomicBool,
    mut change: impl FnMut(bool) -> Result<()>,
) -> Result<()> {
    let mut buffer = [0; 4096];
    while !over.load(Ordering::Relaxed) {
        let now = setting.saves()?;
        if now != known {
            change(now)?;
            known = now;
        }
        ensure!(rustix::io::read(watch, &mut buffer)? > 0, "the watch ended");
    }
    Ok(())
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let file = &self.setting.file;
        let woken = fs::read(file).and_then(|text| fs::write(file, text));
        if let (Ok(()), Some(thread)) = (woken, self.thread.take())
            && let Ok(Err(error)) = thread.join()
        {
            eprintln!("following whether {}: {error:#}", self.setting);
        }
    }
}
