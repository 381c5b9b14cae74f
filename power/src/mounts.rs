//! `/proc/self/mountinfo`, as far as it says which device a path or an anonymous device number lies on.

use crate::root::{Dir, Root};

/// One mount.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) dev: (u32, u32),
    pub(crate) point: String,
    pub(crate) source: String,
    /// This mount or the filesystem behind it refuses writes.
    pub(crate) read_only: bool,
}

/// Directory in `/sys` of the block device that holds the file at `path`.
pub(crate) fn device_of_path<'a>(root: &'a Root, path: &str) -> Option<Dir<'a>> {
    let holds = |m: &Mount| match path.strip_prefix(m.point.trim_end_matches('/')) {
        Some(rest) => rest.is_empty() || rest.starts_with('/'),
        None => false,
    };
    // The later of two mounts on one point covers the earlier; max_by_key keeps the last of equals.
    let mount = read(root).into_iter().filter(holds).max_by_key(|m| m.point.len())?;
    device_of_mount(root, &mount)
}

/// Directory in `/sys` of the device behind a number that no block device has, as btrfs gives its files.
pub(crate) fn device_of_anonymous(root: &Root, dev: (u32, u32)) -> Option<Dir<'_>> {
    let mount = read(root).into_iter().find(|m| m.dev == dev)?;
    device_of_mount(root, &mount)
}

fn device_of_mount<'a>(root: &'a Root, mount: &Mount) -> Option<Dir<'a>> {
    let (major, minor) = mount.dev;
    if major != 0 {
        return root.dir(&format!("/sys/dev/block/{major}:{minor}"));
    }
    let given = mount.source.strip_prefix("/dev/")?;
    let name = root.resolved_name(&mount.source).unwrap_or_else(|| given.to_owned());
    let by_name = |n: &str| root.dir(&format!("/sys/class/block/{n}")).or_else(|| root.dir(&format!("/sys/block/{n}")));
    by_name(&name).filter(|d| d.name() == name).or_else(|| {
        // A recorded tree lacks the links in /dev/mapper.
        let mapped = given.strip_prefix("mapper/")?;
        let dms = root.dir("/sys/block")?.numbered("dm-");
        dms.into_iter().find(|d| d.read("dm/name").as_deref() == Some(mapped))
    })
}

fn read(root: &Root) -> Vec<Mount> {
    all(root).unwrap_or_default()
}

/// Every mount, in the order in which they were made; `None` if the kernel does not tell.
pub(crate) fn all(root: &Root) -> Option<Vec<Mount>> {
    Some(root.read("/proc/self/mountinfo")?.lines().filter_map(parse).collect())
}

/// Whether the filesystem at exactly this mount point refuses writes, as `/sys` does in most containers.
pub(crate) fn is_read_only(root: &Root, point: &str) -> bool {
    read(root).iter().rev().find(|m| m.point == point).is_some_and(|m| m.read_only)
}

/// The kernel name of the device that is mounted, where it can be told.
pub(crate) fn device_name(root: &Root, mount: &Mount) -> Option<String> {
    device_of_mount(root, mount).map(|d| d.name().to_owned())
}

/// `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw`, see proc(5).
fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let (major, minor) = left.next()?.split_once(':')?;
    let point = unescape(left.nth(1)?);
    let options = left.next().unwrap_or_default();
    let mut right = right.split(' ').skip(1);
    let source = unescape(right.next()?);
    let refuses = |options: &str| options.split(',').any(|o| o == "ro");
    let read_only = refuses(options) || right.next().is_some_and(refuses);
    Some(Mount { dev: (major.parse().ok()?, minor.parse().ok()?), point, source, read_only })
}

/// Blanks, tabs, newlines and backslashes are written as three octal digits.
fn unescape(text: &str) -> String {
    let mut out = text.to_owned();
    for (code, plain) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        out = out.replace(code, plain);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_mountinfo_is_read() {
        let mount = parse(r"36 35 0:98 / /mnt/my\040disk rw,noatime shared:1 - btrfs /dev/sda1 rw").unwrap();
        let wanted = Mount { dev: (0, 98), point: "/mnt/my disk".into(), source: "/dev/sda1".into(), read_only: false };
        assert_eq!(mount, wanted);
        assert!(parse("22 1 0:20 / /sys ro,nosuid - sysfs sysfs rw").unwrap().read_only);
        assert_eq!(parse("nonsense"), None);
    }
}
