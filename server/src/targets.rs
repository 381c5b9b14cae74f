//! Places where a run could go, for people who have not named one.

use crate::runner;
use engine::EngineError;
use power::Root;
use protocol::api::TargetChoice;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::host::TargetKind;
use protocol::plan::RunSpec;
use protocol::units::Bytes;
use protocol::workload::{Rw, Workload};
use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The user's home, the working directory, `/var/tmp` and the mount points of drives: those that can be written, one
/// for each filesystem.
pub fn list(root: &Root) -> Vec<TargetChoice> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let own = [home, std::env::current_dir().ok(), Some("/var/tmp".into())];
    let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mut seen = HashSet::new();
    own.into_iter()
        .flatten()
        .chain(mount_points(&mounts))
        .filter(|path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok())
        .filter(|path| fs::metadata(path).is_ok_and(|m| m.is_dir() && seen.insert(m.dev())))
        .filter_map(|path| choice(root, path.to_str()?).ok())
        .filter(|choice| choice.target.device.is_some())
        .collect()
}

/// Refuses a relative path: to whom it comes from elsewhere, the server's working directory means nothing.
pub fn absolute(path: &str) -> Result<(), ErrorBody> {
    if path.is_empty() || path.starts_with('/') {
        return Ok(());
    }
    Err(ErrorBody::new(ErrorCode::Usage, format!("{} is not an absolute path.", path.escape_debug()))
        .hint("Begin with /, as in /var/tmp."))
}

/// What is known of one target, and whether a short read could run there.
pub fn choice(root: &Root, path: &str) -> Result<TargetChoice, ErrorBody> {
    if path.is_empty() || path.contains('\0') {
        return Err(ErrorBody::new(ErrorCode::Usage, "path is not a path; name a directory, a file or a block device"));
    }
    let target = engine::target::inspect(path).map_err(|e| e.body())?;
    let mut read = Workload::new(Rw::RandRead);
    if target.kind == TargetKind::Directory {
        read.size = Some(Bytes(1 << 20));
    }
    let refused = engine::target::check(&RunSpec::of_workloads(path, &[read], 1)).err();
    Ok(TargetChoice { drive: runner::drive(root, &target), target, refused: refused.as_ref().map(EngineError::body) })
}

/// Mount points of filesystems that lie on a device, from `mountinfo` (`proc_pid_mountinfo(5)`): field 5 is the mount
/// point with octal escapes; after ` - ` come filesystem type and source.
fn mount_points(mountinfo: &[u8]) -> Vec<PathBuf> {
    let lines = mountinfo.split(|&b| b == b'\n').map(String::from_utf8_lossy);
    lines
        .filter_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let mut right = right.split(' ');
            let (kind, source) = (right.next()?, right.next()?);
            // squashfs and iso9660 are read-only; a vfat boot partition is no place for a benchmark; an image behind a
            // loop device lies on another filesystem, which is on the list.
            let on_drive = source.starts_with("/dev/")
                && !source.starts_with("/dev/loop")
                && !matches!(kind, "squashfs" | "iso9660" | "vfat");
            on_drive.then(|| unescape(left.split(' ').nth(4)?))?
        })
        .collect()
}

/// Undoes the kernel's `\040` for space, tab, newline and backslash.
fn unescape(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|_| first == b'\\').and_then(|o| std::str::from_utf8(o).ok());
        if let Some(octal) = octal {
            bytes.push(u8::from_str_radix(octal, 8).ok()?);
            rest = tail.get(3..)?;
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    Some(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_of_drives_are_found() {
        let text = b"22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n\
            23 22 0:21 / /proc rw - proc proc rw\n\
            24 22 0:30 / /tmp rw - tmpfs tmpfs rw\n\
            25 22 8:1 / /mnt/my\\040disk\\134x rw shared:2 master:1 - xfs /dev/sda1 rw\n\
            26 22 7:0 / /snap/core ro - squashfs /dev/loop0 ro\n\
            28 22 7:1 / /mnt/image rw - ext4 /dev/loop1 rw\n\
            27 22 259:1 / /boot/efi rw - vfat /dev/nvme0n1p1 rw\n\
            damaged line\n";
        assert_eq!(mount_points(text), [PathBuf::from("/"), PathBuf::from("/mnt/my disk\\x")]);
    }
}
