//! Whether a disk is in use by anybody on this host, as far as the kernel's files tell.

use crate::mounts;
use crate::root::{Dir, Root};

/// Why the disk must be left alone: a filesystem, a holder or swap on it or on one of its partitions. `None` only if
/// nothing was found and everything could be asked.
pub(crate) fn why(root: &Root, disk: &Dir<'_>) -> Option<String> {
    let is_partition = |d: &Dir<'_>| d.read("partition").is_some();
    let partitions = disk.names().into_iter().filter_map(|n| disk.enter(&n)).filter(is_partition);
    let parts: Vec<Dir<'_>> = std::iter::once(disk.clone()).chain(partitions).collect();
    held(&parts).or_else(|| mounted(root, &parts)).or_else(|| swapped(root, &parts)).or_else(|| pooled(root, &parts))
}

/// Device mapper, md and bcache enter themselves in `holders`.
fn held(parts: &[Dir<'_>]) -> Option<String> {
    parts.iter().find_map(|part| {
        let holder = part.enter("holders")?.names().into_iter().next()?;
        Some(format!("{} is part of {holder}", part.name()))
    })
}

fn mounted(root: &Root, parts: &[Dir<'_>]) -> Option<String> {
    let Some(mounts) = mounts::all(root) else { return Some("the kernel does not tell what is mounted".into()) };
    let dev = |part: &Dir<'_>| {
        let text = part.read("dev")?;
        let (major, minor) = text.split_once(':')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    };
    parts.iter().find_map(|part| {
        let dev = dev(part);
        let on = |m: &&mounts::Mount| match m.dev {
            (0, _) => mounts::device_name(root, m).as_deref() == Some(part.name()),
            numbers => Some(numbers) == dev,
        };
        mounts.iter().find(on).map(|m| format!("{} is mounted at {}", part.name(), m.point))
    })
}

fn swapped(root: &Root, parts: &[Dir<'_>]) -> Option<String> {
    let swaps = root.read("/proc/swaps").unwrap_or_default();
    let devices: Vec<String> = swaps
        .lines()
        .skip(1)
        .filter_map(|l| l.split_whitespace().next()?.strip_prefix("/dev/").map(Into::into))
        .map(|name: String| root.resolved_name(&format!("/dev/{name}")).unwrap_or(name))
        .collect();
    let part = parts.iter().find(|p| devices.iter().any(|d| d == p.name()))?;
    Some(format!("{} is swap", part.name()))
}

/// A filesystem over several devices shows one of them only in the list of mounts; btrfs lists them all.
fn pooled(root: &Root, parts: &[Dir<'_>]) -> Option<String> {
    let pools = root.dir("/sys/fs/btrfs")?;
    let members: Vec<String> = pools
        .names()
        .iter()
        .filter_map(|n| pools.enter(n)?.enter("devices"))
        .flat_map(|devices| devices.names())
        .collect();
    let part = parts.iter().find(|p| members.iter().any(|m| m == p.name()))?;
    Some(format!("{} is part of a btrfs filesystem", part.name()))
}
