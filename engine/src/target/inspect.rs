//! What a target is. Changes nothing.

use super::device::or_ask;
use super::direct;
use super::mounts::{self, Mount};
use crate::EngineError;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::host::{DirectIo, TargetFacts, TargetKind};
use protocol::units::Bytes;
use rustix::fs::{Mode, OFlags, major, minor, open, statvfs};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What is known of the target at `path` (directory, file or block device, symbolic links followed). Changes
/// nothing, reads nothing of the content.
pub fn inspect(path: &str) -> Result<TargetFacts, EngineError> {
    let refused =
        |what: String, hint: &str| EngineError::Expected(ErrorBody::new(ErrorCode::TargetRefused, what).hint(hint));
    let real = fs::canonicalize(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => {
            let named =
                if path.is_empty() { "No target is named.".into() } else { format!("There is no {}.", shown(path)) };
            refused(named, "Name an existing directory, file or block device.")
        }
        io::ErrorKind::PermissionDenied => refused(
            format!("{} cannot be reached: permission denied.", shown(path)),
            "Choose a place that you may read, or start with sudo.",
        ),
        _ => refused(format!("{} cannot be reached: {e}.", shown(path)), "Choose another target."),
    })?;
    let meta = fs::metadata(&real)
        .map_err(|e| refused(format!("{} cannot be looked at: {e}.", shown(path)), "Choose another target."))?;
    let kind = match meta.file_type() {
        t if t.is_dir() => TargetKind::Directory,
        t if t.is_file() => TargetKind::File,
        t if t.is_block_device() => TargetKind::BlockDevice,
        t => {
            let what = match t {
                t if t.is_char_device() => "a character device",
                t if t.is_fifo() => "a pipe",
                _ => "a socket",
            };
            return Err(refused(
                format!("{} is {what}; there is nothing to measure.", shown(path)),
                "Name a directory, a file or a block device.",
            ));
        }
    };
    let mount = if kind == TargetKind::BlockDevice { None } else { mounts::of(&real) };
    let device = device(kind, &real, &meta, mount.as_ref());
    let space = statvfs(&real).ok().filter(|_| kind == TargetKind::Directory);
    Ok(TargetFacts {
        path: path.to_owned(),
        kind,
        filesystem: mount.as_ref().map(|m| m.fs.clone()),
        mount_point: mount.as_ref().map(|m| m.point.to_string_lossy().into_owned()),
        mount_options: mount.as_ref().map(|m| m.options.clone()),
        device: device.as_ref().map(|(path, _)| path.to_string_lossy().into_owned()),
        dev: device.map(|(_, dev)| dev),
        size: size(kind, &real, &meta),
        free: space.as_ref().map(|s| Bytes(s.f_bavail.saturating_mul(s.f_frsize))),
        total: space.as_ref().map(|s| Bytes(s.f_blocks.saturating_mul(s.f_frsize))),
        direct: probe_direct(kind, &real, mount.as_ref()),
    })
}

/// A path as shown in messages: control characters made visible.
pub(crate) fn shown(path: &str) -> String {
    path.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// The block device that the data is on, where there is one: the device itself, else that of the filesystem.
fn device(kind: TargetKind, real: &Path, meta: &Metadata, mount: Option<&Mount>) -> Option<(PathBuf, (u32, u32))> {
    let numbers = |dev: u64| (major(dev), minor(dev));
    if kind == TargetKind::BlockDevice {
        return Some((real.to_owned(), numbers(meta.rdev())));
    }
    let mounted_from = |source: &Path| {
        let meta = fs::metadata(source).ok().filter(|m| m.file_type().is_block_device())?;
        Some((fs::canonicalize(source).ok()?, numbers(meta.rdev())))
    };
    let dev = numbers(meta.dev());
    // A major number of 0 is made up: btrfs and others use one per subvolume.
    if dev.0 == 0 {
        return mounted_from(Path::new(&mount?.source));
    }
    let name = fs::canonicalize(format!("/sys/dev/block/{}:{}", dev.0, dev.1)).ok()?;
    Some((Path::new("/dev").join(name.file_name()?), dev))
}

fn size(kind: TargetKind, real: &Path, meta: &Metadata) -> Option<Bytes> {
    match kind {
        TargetKind::Directory => None,
        TargetKind::File => Some(Bytes(meta.len())),
        // Counted in sectors of 512 bytes whatever the logical block size; readable without opening the device.
        TargetKind::BlockDevice => {
            let dev = meta.rdev();
            let size = fs::read_to_string(format!("/sys/dev/block/{}:{}/size", major(dev), minor(dev))).ok();
            let size = size.and_then(|s| s.trim().parse::<u64>().ok()).map(|s| Bytes(s * 512));
            size.or_else(|| {
                let mut file = or_ask(fs::File::open(real), real, false).ok()?;
                io::Seek::seek(&mut file, io::SeekFrom::End(0)).ok().map(Bytes)
            })
        }
    }
}

/// Opens with `O_DIRECT`; in a directory, a nameless temporary file that is never linked anywhere.
fn probe_direct(kind: TargetKind, real: &Path, mount: Option<&Mount>) -> DirectIo {
    let flags = OFlags::DIRECT | OFlags::CLOEXEC;
    let opened = match kind {
        TargetKind::Directory => open(real, flags | OFlags::TMPFILE | OFlags::RDWR, Mode::from_raw_mode(0o600)),
        TargetKind::File | TargetKind::BlockDevice => open(real, flags | OFlags::RDONLY, Mode::empty()),
    };
    match opened {
        Ok(fd) => direct::of_descriptor(fd, mount),
        Err(e) if kind == TargetKind::BlockDevice => match or_ask(Err(e.into()), real, true) {
            Ok(file) => direct::of_descriptor(file, mount),
            Err(e) => direct::refused(mount, &e),
        },
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::ISDIR) if kind == TargetKind::Directory => {
            // vfat, exfat, overlay on old kernels and others.
            direct::untried(mount)
        }
        Err(e) => direct::refused(mount, &e.into()),
    }
}
