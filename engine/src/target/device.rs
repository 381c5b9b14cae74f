//! Block devices that this process may not open by itself, but may ask somebody else for.

use rustix::fs::{major, minor};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::OnceLock;

type Opener = dyn Fn((u32, u32), bool) -> io::Result<OwnedFd> + Send + Sync;

static OPENER: OnceLock<Box<Opener>> = OnceLock::new();

/// Has `opener` asked for a block device, by its numbers and whether past the page cache, wherever this process lacks
/// the right to open one for reading. Only the first call counts.
pub fn ask_for_devices(opener: impl Fn((u32, u32), bool) -> io::Result<OwnedFd> + Send + Sync + 'static) {
    let _ = OPENER.set(Box::new(opener));
}

/// What was opened, or, if that was not allowed and `path` is a block device, what the opener gives.
pub(super) fn or_ask(opened: io::Result<File>, path: &Path, direct: bool) -> io::Result<File> {
    match (opened, OPENER.get()) {
        (Err(e), Some(opener)) if e.kind() == io::ErrorKind::PermissionDenied => match numbers(path) {
            Some(dev) => opener(dev, direct).map(File::from),
            None => Err(e),
        },
        (opened, _) => opened,
    }
}

fn numbers(path: &Path) -> Option<(u32, u32)> {
    let meta = std::fs::metadata(path).ok().filter(|m| m.file_type().is_block_device())?;
    Some((major(meta.rdev()), minor(meta.rdev())))
}
