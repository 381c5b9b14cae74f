//! Whether `O_DIRECT` really goes past the page cache.

use super::mounts::Mount;
use protocol::host::DirectIo;
use rustix::fs::{AtFlags, StatxFlags, fstatfs, ioctl_blksszget, statx};
use std::os::fd::AsFd;

/// Filesystems that accept the flag and use the page cache all the same (or are one), with the reason.
fn pretends(mount: &Mount) -> Option<String> {
    let why = match mount.fs.as_str() {
        "tmpfs" | "ramfs" | "devtmpfs" => "lives in memory: there is no drive under it",
        "zfs" => "may serve O_DIRECT from its own cache",
        "overlay" => return None,
        fuse if fuse.starts_with("fuse") => "is served by a program, which may cache",
        "9p" | "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" => "lies on another machine",
        _ => return None,
    };
    Some(format!("{} {why}", mount.fs))
}

/// What an open descriptor, opened with `O_DIRECT`, says of itself.
pub(crate) fn of_descriptor(fd: impl AsFd, mount: Option<&Mount>) -> DirectIo {
    if let Some(evidence) = mount.and_then(pretends) {
        return DirectIo { supported: false, evidence, ..DirectIo::default() };
    }
    let asked = statx(&fd, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
    if let Ok(x) = asked
        && x.stx_mask & StatxFlags::DIOALIGN.bits() != 0
    {
        let supported = x.stx_dio_offset_align > 0;
        return DirectIo {
            supported,
            mem_align: supported.then_some(x.stx_dio_mem_align),
            offset_align: supported.then_some(x.stx_dio_offset_align),
            evidence: if supported {
                "statx gives an alignment for direct I/O".into()
            } else {
                "statx says that this file cannot do direct I/O (compressed, encrypted or check-summed data?)".into()
            },
        };
    }
    match ioctl_blksszget(&fd) {
        Ok(block) => DirectIo {
            supported: true,
            mem_align: Some(block),
            offset_align: Some(block),
            evidence: "a block device with this logical block size".into(),
        },
        // btrfs takes any alignment and then goes through the page cache unless it is that of its sectors.
        Err(_) if mount.is_some_and(|m| m.fs == "btrfs") => {
            let sector = fstatfs(&fd).ok().and_then(|s| u32::try_from(s.f_bsize).ok());
            DirectIo {
                supported: true,
                mem_align: sector,
                offset_align: sector,
                evidence: "btrfs, with its sector size".into(),
            }
        }
        Err(_) => DirectIo {
            supported: true,
            mem_align: None,
            offset_align: None,
            evidence: "open accepted O_DIRECT; this kernel does not tell the alignment (Linux 6.1 does)".into(),
        },
    }
}

/// A directory whose filesystem has no nameless files to try it with: found out when the file is made.
pub(crate) fn untried(mount: Option<&Mount>) -> DirectIo {
    let pretends = mount.and_then(pretends);
    let supported = pretends.is_none();
    let evidence = pretends.unwrap_or_else(|| "not tried before the file is made".into());
    DirectIo { supported, evidence, ..DirectIo::default() }
}

/// Why opening with `O_DIRECT` failed.
pub(crate) fn refused(mount: Option<&Mount>, error: &std::io::Error) -> DirectIo {
    let evidence = match (mount.and_then(pretends), error.raw_os_error()) {
        (Some(pretends), _) => pretends,
        (None, Some(libc::EINVAL)) => {
            format!("{} has no direct I/O", mount.map_or("this filesystem", |m| m.fs.as_str()))
        }
        (None, _) => format!("opening with O_DIRECT failed: {error}"),
    };
    DirectIo { supported: false, evidence, ..DirectIo::default() }
}
