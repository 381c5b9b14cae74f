//! Which filesystem a path lies on, from /proc/self/mountinfo (proc(5)).

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One line of mountinfo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) point: PathBuf,
    pub(crate) options: String,
    pub(crate) fs: String,
    pub(crate) source: String,
}

/// The mount that an absolute path without symbolic links lies on.
pub(crate) fn of(path: &Path) -> Option<Mount> {
    find(&fs::read_to_string("/proc/self/mountinfo").ok()?, path)
}

fn find(mountinfo: &str, path: &Path) -> Option<Mount> {
    let mounts = mountinfo.lines().filter_map(parse).filter(|m| path.starts_with(&m.point));
    // Of several mounts on one point the last covers the others.
    mounts.fold(None, |best: Option<Mount>, m| match best {
        Some(b) if b.point.components().count() > m.point.components().count() => Some(b),
        _ => Some(m),
    })
}

fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(4);
    let (point, options) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    let (fs, source, super_options) = (right.next()?, right.next()?, right.next().unwrap_or_default());
    let read_only = |o: &str| o.split(',').any(|o| o == "ro");
    // A filesystem that went read-only after an error says so in its own options only.
    let options = match (read_only(options), read_only(super_options)) {
        (false, true) => format!("ro,{options}"),
        _ => options.to_owned(),
    };
    Some(Mount {
        point: PathBuf::from(std::ffi::OsString::from_vec(unescape(point))),
        options,
        fs: fs.to_owned(),
        source: String::from_utf8_lossy(&unescape(source)).into_owned(),
    })
}

/// Space, tab, newline and backslash stand as three octal digits.
fn unescape(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let octal = bytes.get(at + 1..at + 4).and_then(|d| std::str::from_utf8(d).ok());
        if let Some(escaped) = octal.filter(|_| byte == b'\\').and_then(|d| u8::from_str_radix(d, 8).ok()) {
            out.push(escaped);
            at += 4;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "\
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 21 0:26 / /mnt/a\\040b rw,noatime - btrfs /dev/sdb1 rw,subvol=/
31 21 8:1 / /mnt rw - xfs /dev/sda1 ro,attr2
32 21 8:2 / /mnt rw - ext4 /dev/sda2 rw
33 32 0:30 / /tmp rw,nosuid - tmpfs tmpfs rw";

    #[test]
    fn the_longest_and_last_mount_counts() {
        let fs = |path: &str| find(INFO, Path::new(path)).map(|m| (m.fs, m.source));
        let is = |fs: &str, source: &str| Some((fs.to_owned(), source.to_owned()));
        assert_eq!(fs("/home/x"), is("ext4", "/dev/vda"));
        assert_eq!(fs("/mnt/a b/c"), is("btrfs", "/dev/sdb1"));
        assert_eq!(fs("/mnt/c"), is("ext4", "/dev/sda2"));
        assert_eq!(fs("/tmpx"), is("ext4", "/dev/vda"));
        assert_eq!(fs("/tmp"), is("tmpfs", "tmpfs"));
    }

    #[test]
    fn a_filesystem_gone_read_only_is_read_only() {
        assert_eq!(parse("31 21 8:1 / /mnt rw - xfs /dev/sda1 ro").unwrap().options, "ro,rw");
        assert_eq!(parse("nonsense"), None);
    }
}
