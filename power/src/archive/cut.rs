//! Files of which a part is needed and the rest is private.

/// Parameters of the kernel's command line whose values are kept: those that decide how processors, links and drives
/// save power, and how fast the kernel is. A name that ends in a dot stands for all parameters of a module. Any other
/// value may name a machine, an address or a key.
const TELLING: [&str; 45] = [
    "acpi",
    "ahci.",
    "amd_iommu",
    "amd_pstate",
    "clocksource",
    "cpufreq.",
    "cpuidle.",
    "cpuidle_haltpoll.",
    "default_hugepagesz",
    "elevator",
    "haltpoll.",
    "hugepages",
    "hugepagesz",
    "idle",
    "intel_idle.",
    "intel_iommu",
    "intel_pstate",
    "io_delay",
    "iommu",
    "iommu.",
    "irqaffinity",
    "isolcpus",
    "libata.",
    "maxcpus",
    "mem_sleep_default",
    "mitigations",
    "nmi_watchdog",
    "nohz",
    "nohz_full",
    "nr_cpus",
    "nvme.",
    "nvme_core.",
    "pci",
    "pcie_aspm",
    "pcie_aspm.",
    "pcie_port_pm",
    "preempt",
    "processor.",
    "psi",
    "rcu_nocbs",
    "scsi_mod.",
    "threadirqs",
    "transparent_hugepage",
    "tsc",
    "usbcore.",
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
        // A controller reached over a network is called by its host's address, one on PCI by the slot's.
        _ if path.ends_with("/address") => |text| if text.contains("addr=") { "masked\n".into() } else { text.into() },
        _ => return data,
    };
    cut(&String::from_utf8_lossy(&data)).into_bytes()
}

fn lines(text: &str, line: impl Fn(&str) -> Option<String>) -> String {
    text.lines().filter_map(line).map(|l| l + "\n").collect::<Vec<_>>().concat()
}

fn cmdline(text: &str) -> String {
    let telling = |key: &str| {
        let module = key.split_inclusive('.').next().filter(|part| part.ends_with('.'));
        TELLING.contains(&key) || module.is_some_and(|module| TELLING.contains(&module))
    };
    let word = |word: &str| match word.split_once('=') {
        Some((key, _)) if !telling(key) => format!("{key}=masked"),
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
        let line = "ro ip=10.0.0.3::off quiet root=LABEL=alice crypt.key=hunter2 intel_idle.max_cstate=1 pcie_aspm=off";
        let shown = "ro ip=masked quiet root=masked crypt.key=masked intel_idle.max_cstate=1 pcie_aspm=off\n";
        assert_eq!(cmdline(line), shown);
    }

    #[test]
    fn controllers_over_a_network_do_not_tell_where_it_is() {
        let of = |text: &str| to_what_is_needed("/sys/class/nvme/nvme1/address", text.into());
        assert_eq!(of("traddr=10.0.0.9,trsvcid=4420\n"), b"masked\n");
        assert_eq!(of("0000:01:00.0\n"), b"0000:01:00.0\n");
    }
}
