//! Locks between processes: who is at work in a state directory.
//!
//! A lock is an `flock` on a file that also says, as JSON, who holds it. The kernel drops it with the process, however
//! that ends, so the text only means something while the lock is held.

use crate::state_dir::{NOFOLLOW, open_private};
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Who holds a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// What it does, in words that follow "is busy with": "`CrystalDiskMark` 8 on /mnt/ssd".
    pub what: String,
    /// The run it is about, if it is about one.
    #[serde(default)]
    pub run: Option<String>,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("process {} is busy with {}", .0.pid, .0.what)]
    Held(Holder),
    /// The lock file cannot be used.
    #[error("lock file: {0}")]
    Io(#[from] io::Error),
}

/// A lock that is held until dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Takes the lock at `path` or says who holds it.
    pub fn take(path: &Path, what: &str, run: Option<&str>) -> Result<Self, LockError> {
        let mut file = open_private(path)?;
        // A look by `holder` holds the lock for an instant; that is no reason to give up.
        let patience = Instant::now() + Duration::from_millis(50);
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(e)) => return Err(e.into()),
                Err(TryLockError::WouldBlock) if Instant::now() < patience => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => return Err(LockError::Held(read(&mut file))),
            }
        }
        let mut lock = Self(file);
        lock.write(what, run)?;
        Ok(lock)
    }

    /// Says anew what the holder does.
    pub fn describe(&mut self, what: &str) -> io::Result<()> {
        self.write(what, None)
    }

    fn write(&mut self, what: &str, run: Option<&str>) -> io::Result<()> {
        let holder = Holder { pid: std::process::id(), what: what.into(), run: run.map(Into::into) };
        self.0.set_len(0)?;
        self.0.rewind()?;
        self.0.write_all(serde_json::to_string(&holder).map_err(io::Error::other)?.as_bytes())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Only tidiness: the text means nothing once the lock is gone.
        let _ = self.0.set_len(0);
    }
}

/// Who holds the lock at `path`, if anybody does. A holder that has not yet written who it is has pid 0.
pub fn holder(path: &Path) -> io::Result<Option<Holder>> {
    let mut file = match File::options().read(true).custom_flags(NOFOLLOW).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(read(&mut file))),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

fn read(file: &mut File) -> Holder {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(4096).read_to_string(&mut text));
    read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time_and_it_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.lock");
        assert_eq!(holder(&path).unwrap(), None);
        let lock = Lock::take(&path, "a long run", Some("r1")).unwrap();
        let me = Holder { pid: std::process::id(), what: "a long run".into(), run: Some("r1".into()) };
        assert_eq!(holder(&path).unwrap().as_ref(), Some(&me));
        match Lock::take(&path, "another", None) {
            Err(LockError::Held(h)) => assert_eq!(h, me),
            other => panic!("{other:?}"),
        }
        drop(lock);
        assert_eq!(holder(&path).unwrap(), None);
        Lock::take(&path, "another", None).unwrap();
    }

    #[test]
    fn damaged_text_still_means_held() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.lock");
        let _lock = Lock::take(&path, "a run", None).unwrap();
        std::fs::write(&path, b"\xff{").unwrap();
        assert_eq!(holder(&path).unwrap(), Some(Holder::default()));
    }
}
