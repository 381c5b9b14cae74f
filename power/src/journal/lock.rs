//! One process at a time: a lock on a file beside the journal (which itself is replaced now and then), held as long as
//! the process lives.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, ftruncate, openat};
use rustix::io::{Errno, pread, pwrite};
use std::time::{Duration, Instant};

/// A process that was killed lets go a moment after others have seen it die.
const PATIENCE: Duration = Duration::from_secs(2);
const ASK_EVERY: Duration = Duration::from_millis(5);

/// Why the lock was not taken.
#[derive(Debug)]
pub(super) enum Refused {
    /// Another process has it.
    By(u32),
    /// The kernel's answer.
    Error(Errno),
}

/// Takes the lock and leaves our process number in it. Where nothing can be made any more, there is none: settings
/// must go back all the same.
pub(super) fn take(dir: impl AsFd, name: &str) -> Result<Option<OwnedFd>, Refused> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = |mode| openat(&dir, name, flags | mode, Mode::from_raw_mode(0o600));
    let file = match open(OFlags::RDWR | OFlags::CREATE) {
        Err(Errno::ROFS | Errno::NOSPC | Errno::DQUOT | Errno::PERM | Errno::ACCESS) => match open(OFlags::RDONLY) {
            Err(Errno::NOENT) => return Ok(None),
            other => other,
        },
        other => other,
    };
    let file = file.map_err(Refused::Error)?;
    wait_for(&file, holder)?;
    // Only to be named to others; a full disk must not keep anybody from putting settings back.
    let _ = ftruncate(&file, 0);
    let _ = pwrite(&file, format!("{}\n", std::process::id()).as_bytes(), 0);
    Ok(Some(file))
}

/// Takes the lock on what is open, within our patience.
pub(super) fn wait_for(file: &OwnedFd, holder: impl Fn(&OwnedFd) -> u32) -> Result<(), Refused> {
    let end = Instant::now() + PATIENCE;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) if Instant::now() < end => std::thread::sleep(ASK_EVERY),
            Err(Errno::WOULDBLOCK) => return Err(Refused::By(holder(file))),
            Err(errno) => return Err(Refused::Error(errno)),
        }
    }
}

fn holder(file: &OwnedFd) -> u32 {
    let mut text = [0; 16];
    let len = pread(file, &mut text, 0).unwrap_or(0);
    let text = text.get(..len).and_then(|t| std::str::from_utf8(t).ok());
    text.and_then(|t| t.trim().parse().ok()).unwrap_or(0)
}
