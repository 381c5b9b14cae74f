//! A damaged journal is evidence, and somebody may read in it what this program cannot: it is kept.

use super::file::{content, flags, private, write_at};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, OFlags, fstat, fsync, linkat, openat, statat};
use rustix::io::Errno;
use std::path::Path;

/// Damaged journals that are kept; what is damaged over and over is no news.
const MOST: u32 = 99;

/// Gives the file a second name, or where the filesystem knows none, copies it. Returns that name.
pub(super) fn keep(dir: &OwnedFd, name: &str, file: &OwnedFd) -> Result<String, Errno> {
    let ours = fstat(file)?;
    for n in 1..=MOST {
        let aside = format!("{name}.damaged-{n}");
        match statat(dir, &aside, AtFlags::SYMLINK_NOFOLLOW) {
            // It could not be written anew the last time.
            Ok(there) if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino) => return Ok(aside),
            Ok(_) => {}
            Err(Errno::NOENT) => {
                if linkat(dir, name, dir, &aside, AtFlags::empty()).is_err() {
                    let copy = openat(dir, &aside, flags() | OFlags::EXCL, private())?;
                    write_at(&copy, &content(file)?, 0)?;
                    fsync(&copy)?;
                }
                fsync(dir)?;
                return Ok(aside);
            }
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::EXIST)
}

/// What to tell of it.
pub(super) fn note(damaged: u32, is_empty: bool, dir: &Path, kept: &str) -> String {
    let what = match damaged {
        _ if is_empty => "the journal of settings was empty".into(),
        1 => "1 damaged line of the journal was skipped, and every intact one used".into(),
        n => format!("{n} damaged lines of the journal were skipped, and every intact one used"),
    };
    format!(
        "{what}: some settings may still be changed; a reboot puts everything back. The damaged file is {}",
        dir.join(kept).display()
    )
}
