//! Removing what a killed process left.

use super::own::marker;
use super::registry::{Entry, Registry};
use super::trailer::State;
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What is to be done about an entry nobody uses.
enum Verdict {
    /// The data file is ours and left over.
    Remove,
    /// There is nothing left of ours, or it is to stay.
    Forget,
    /// It cannot be seen just now; the next start looks again.
    Wait,
}

/// Removes the data files that `registry` lists and nobody uses or kept. Returns the removed files.
pub(crate) fn remove(registry: &Path) -> Vec<PathBuf> {
    if !registry.exists() {
        return Vec::new();
    }
    let Ok(registry) = Registry::lock(registry) else { return Vec::new() };
    let mut removed = Vec::new();
    for entry in registry.unused() {
        match judge(&entry) {
            Verdict::Wait => {}
            Verdict::Forget => entry.remove(),
            Verdict::Remove => {
                if fs::remove_file(&entry.data).is_ok() {
                    entry.remove();
                    removed.push(entry.data);
                }
            }
        }
    }
    removed
}

fn judge(entry: &Entry) -> Verdict {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    match OpenOptions::new().read(true).custom_flags(flags).open(&entry.data) {
        Ok(file) if is_ours(&file, entry) => match marker(&file) {
            Some(marker) if marker.state == State::Kept => Verdict::Forget,
            _ => Verdict::Remove,
        },
        // Somebody put a file of their own there.
        Ok(_) => Verdict::Forget,
        Err(e) if e.kind() == io::ErrorKind::NotFound && device_of_place(&entry.data) == Some(entry.dev) => {
            Verdict::Forget
        }
        // Its filesystem is not mounted, or it may not be opened just now.
        Err(_) => Verdict::Wait,
    }
}

/// The file that was noted, or, where the process died before it could note it, one that holds nothing yet.
fn is_ours(file: &File, entry: &Entry) -> bool {
    file.metadata().is_ok_and(|m| {
        m.is_file() && m.dev() == entry.dev && if entry.inode == 0 { m.len() == 0 } else { m.ino() == entry.inode }
    })
}

/// Device of the nearest directory above `path` that exists.
fn device_of_place(path: &Path) -> Option<u64> {
    path.ancestors().skip(1).find_map(|dir| fs::metadata(dir).ok()).map(|m| m.dev())
}
