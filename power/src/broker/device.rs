//! Opening a block device for somebody who may not.

use protocol::error::{ErrorBody, ErrorCode};
use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor, open};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The block device with these numbers, for reading only.
pub(super) fn open_device(wanted: (u32, u32), direct: bool) -> Result<OwnedFd, ErrorBody> {
    let (high, low) = wanted;
    let refused = |why: String| {
        ErrorBody::new(ErrorCode::TargetRefused, format!("The block device {high}:{low} cannot be opened: {why}."))
            .hint("Check that it is still there.")
    };
    let path = find(wanted).ok_or_else(|| refused("there is no such device under /dev".into()))?;
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    flags.set(OFlags::DIRECT, direct);
    let file = open(&path, flags, Mode::empty()).map_err(|e| refused(e.to_string()))?;
    // The name may have come to mean something else meanwhile: what counts is what was opened.
    let stat = fstat(&file).map_err(|e| refused(e.to_string()))?;
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    if !is_block || (major(stat.st_rdev), minor(stat.st_rdev)) != wanted {
        return Err(refused(format!("{} is another one now", path.display())));
    }
    Ok(file)
}

/// udev's link, else whatever device file there is.
fn find(wanted: (u32, u32)) -> Option<PathBuf> {
    let link = PathBuf::from(format!("/dev/block/{}:{}", wanted.0, wanted.1));
    if is_it(&link, wanted) {
        return Some(link);
    }
    let below = |dir: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect()
    };
    let top = below(Path::new("/dev"));
    if let Some(found) = top.iter().find(|path| is_it(path, wanted)) {
        return Some(found.clone());
    }
    let directories = top.iter().filter(|path| path.is_dir() && !path.is_symlink());
    directories.flat_map(|dir| below(dir)).find(|path| is_it(path, wanted))
}

fn is_it(path: &Path, wanted: (u32, u32)) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|m| m.file_type().is_block_device() && (major(m.rdev()), minor(m.rdev())) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_said_to_be_so() {
        let error = open_device((4095, 1_048_575), false).unwrap_err();
        assert_eq!(error.code, ErrorCode::TargetRefused);
        assert!(error.message.contains("4095:1048575"), "{error}");
    }

    /// 1:3 is `/dev/null` among the character devices.
    #[test]
    fn a_character_device_of_the_same_numbers_is_not_opened() {
        if find((1, 3)).is_none() {
            open_device((1, 3), false).unwrap_err();
        }
    }
}
