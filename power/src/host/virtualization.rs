//! Virtual machine and container, asked for separately: one often runs inside the other.

use super::identity::cpuinfo;
use crate::root::Root;

/// `KVM virtual machine`, `docker container`, or both in one phrase; `None` on bare metal.
pub(crate) fn in_words(root: &Root) -> Option<String> {
    let machine = hypervisor(root).map(|h| format!("{h} virtual machine"));
    match (container(root), machine) {
        (Some(c), Some(m)) => Some(format!("{c} container in a {m}")),
        (Some(c), None) => Some(format!("{c} container")),
        (None, machine) => machine,
    }
}

/// The hypervisor's name, or `unnamed` if there is one that does not say.
fn hypervisor(root: &Root) -> Option<String> {
    let known = [
        ("Microsoft Corporation Virtual Machine", "Hyper-V"),
        ("VMware", "VMware"),
        ("innotek", "VirtualBox"),
        ("VirtualBox", "VirtualBox"),
        ("Parallels", "Parallels"),
        ("Xen", "Xen"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google Compute Engine", "Google"),
        ("QEMU", "QEMU"),
        ("KVM", "KVM"),
        ("Bochs", "Bochs"),
    ];
    let named = |text: &str| known.iter().find(|(mark, _)| text.contains(mark)).map(|(_, name)| (*name).to_owned());
    // Only guests carry the flag, so metal instances of EC2 and Google are not taken for machines of theirs.
    let guest = cpuinfo(root, "flags").is_some_and(|f| f.split(' ').any(|f| f == "hypervisor"));
    if !guest {
        return (root.read("/sys/hypervisor/type").as_deref() == Some("xen")).then(|| "Xen".into());
    }
    if root.read("/proc/sys/kernel/osrelease").is_some_and(|r| r.to_lowercase().contains("microsoft")) {
        return Some("WSL".into());
    }
    let dmi = ["sys_vendor", "product_name", "bios_vendor"];
    let dmi: Vec<_> = dmi.iter().filter_map(|n| root.read(&format!("/sys/class/dmi/id/{n}"))).collect();
    let clock = root.read("/sys/devices/system/clocksource/clocksource0/available_clocksource").unwrap_or_default();
    let by_clock = [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")];
    named(&dmi.join(" "))
        .or_else(|| by_clock.iter().find(|(mark, _)| clock.contains(mark)).map(|(_, name)| (*name).to_owned()))
        .or_else(|| Some("unnamed".into()))
}

/// The container manager's name.
fn container(root: &Root) -> Option<String> {
    if let Some(name) = root.read("/run/systemd/container") {
        return Some(name);
    }
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    if let Some((_, name)) = marks.iter().find(|(path, _)| root.exists(path)) {
        return Some((*name).into());
    }
    let groups = root.read("/proc/1/cgroup")?;
    let marks = [("kubepods", "Kubernetes"), ("/docker", "docker"), ("/lxc", "lxc")];
    marks.iter().find(|(mark, _)| groups.contains(mark)).map(|(_, name)| (*name).into())
}
