//! `/proc/self/mountinfo`, as far as it says which device a path or an anonymous device number lies on.

use crate::root::{Dir, Root};

/// One mount.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    dev: (u32, u32),
    point: String,
    source: String,
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
    root.read("/proc/self/mountinfo").unwrap_or_default().lines().filter_map(parse).collect()
}

/// `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw`, see proc(5).
fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let (major, minor) = left.next()?.split_once(':')?;
    let point = unescape(left.nth(1)?);
    let source = unescape(right.split(' ').nth(1)?);
    Some(Mount { dev: (major.parse().ok()?, minor.parse().ok()?), point, source })
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
        assert_eq!(mount, Mount { dev: (0, 98), point: "/mnt/my disk".into(), source: "/dev/sda1".into() });
        assert_eq!(parse("nonsense"), None);
    }
}
