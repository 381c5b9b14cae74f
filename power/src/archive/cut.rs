//! Files of which a part is needed and the rest is private.

/// Parameters of the kernel's command line that name machines, addresses or keys.
const PRIVATE: [&str; 9] = [
    "BOOTIF",
    "hostname",
    "ip",
    "ipv6.address",
    "iscsi_initiator",
    "netroot",
    "nfsroot",
    "rd.luks.key",
    "systemd.hostname",
];

/// Filesystems whose source is a server and whose options may be credentials.
const OF_NETWORK: [&str; 9] = ["9p", "afs", "ceph", "cifs", "fuse", "glusterfs", "nfs", "smb3", "virtiofs"];

/// The file without what is private; most files are needed whole.
pub(super) fn to_what_is_needed(path: &str, data: Vec<u8>) -> Vec<u8> {
    let cut: fn(&str) -> String = match path {
        "/proc/cmdline" => cmdline,
        "/proc/self/mountinfo" => |text| lines(text, mountinfo),
        "/proc/mounts" => |text| lines(text, mount),
        "/run/.containerenv" | "/.dockerenv" => |_| String::new(),
        _ => return data,
    };
    cut(&String::from_utf8_lossy(&data)).into_bytes()
}

fn lines(text: &str, line: impl Fn(&str) -> Option<String>) -> String {
    text.lines().filter_map(line).map(|l| l + "\n").collect::<Vec<_>>().concat()
}

fn cmdline(text: &str) -> String {
    let word = |word: &str| match word.split_once('=') {
        Some((key, _)) if PRIVATE.contains(&key) => format!("{key}=masked"),
        _ => word.to_owned(),
    };
    text.split_ascii_whitespace().map(word).collect::<Vec<_>>().join(" ") + "\n"
}

/// `36 35 98:0 / /mnt rw - ext4 /dev/sda1 rw,errors=...`: of the options of a filesystem, `rw` or `ro`.
fn mountinfo(line: &str) -> Option<String> {
    let (left, right) = line.split_once(" - ")?;
    let mut right = right.split(' ');
    let (kind, source, options) = (right.next()?, right.next()?, right.next().unwrap_or_default());
    Some(format!("{left} - {kind} {} {}", shown(kind, source), first(options)))
}

/// `/dev/sda1 /mnt ext4 rw,errors=... 0 0`.
fn mount(line: &str) -> Option<String> {
    let mut words = line.split(' ');
    let (source, point, kind, options) = (words.next()?, words.next()?, words.next()?, words.next()?);
    Some(format!("{} {point} {kind} {} 0 0", shown(kind, source), first(options)))
}

fn shown<'a>(kind: &str, source: &'a str) -> &'a str {
    let network = OF_NETWORK.iter().any(|n| kind.starts_with(n)) && !source.starts_with("/dev/");
    if network { "masked" } else { source }
}

fn first(options: &str) -> &str {
    options.split(',').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_keep_what_says_where_they_are() {
        let local = "36 35 8:1 / /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro";
        assert_eq!(mountinfo(local).unwrap(), "36 35 8:1 / /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw");
        let remote = "40 35 0:50 / /home rw - nfs4 files.example.org:/home rw,addr=10.0.0.2";
        assert_eq!(mountinfo(remote).unwrap(), "40 35 0:50 / /home rw - nfs4 masked rw");
        assert_eq!(mount("//nas/x /x cifs rw,username=me 0 0").unwrap(), "masked /x cifs rw 0 0");
        assert_eq!(mountinfo("nonsense"), None);
    }

    #[test]
    fn parameters_that_name_machines_are_masked() {
        assert_eq!(cmdline("ro ip=10.0.0.3::off quiet\n"), "ro ip=masked quiet\n");
    }
}
