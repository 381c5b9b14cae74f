//! What goes into an archive. The list is closed: what is not here is not looked at.

/// Single files. What a kernel or system does not have is absent.
pub(super) const FILES: [&str; 27] = [
    "/proc/cpuinfo",
    "/proc/cmdline",
    "/proc/mdstat",
    "/proc/meminfo",
    "/proc/mounts",
    "/proc/self/mountinfo",
    "/proc/pressure/cpu",
    "/proc/pressure/io",
    "/proc/pressure/memory",
    "/proc/stat",
    "/proc/swaps",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/nmi_watchdog",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/random/boot_id",
    "/proc/version",
    "/proc/1/cgroup",
    "/etc/os-release",
    "/usr/lib/os-release",
    "/run/systemd/container",
    "/.dockerenv",
    "/run/.containerenv",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    "/sys/firmware/acpi/platform_profile",
    "/sys/firmware/acpi/platform_profile_choices",
    "/sys/hypervisor/type",
    "/sys/kernel/security/lockdown",
];

/// Tells the latency limit in force, in 4 bytes.
pub(super) const LIMIT: &str = "/dev/cpu_dma_latency";

/// Directories of which only the names in them count.
pub(super) const NAMES: [&str; 2] = ["/etc/systemd/system/multi-user.target.wants", "/run/tlp"];

/// What of [`NAMES`] is noted: the other services of a machine are nobody's business.
pub(super) const NOTED: [&str; 2] = ["tlp.service", "laptop-mode.service"];

/// Directories with everything below them.
pub(super) const TREES: [&str; 10] = [
    "/sys/devices/system/cpu",
    "/sys/module/ahci/parameters",
    "/sys/module/haltpoll/parameters",
    "/sys/module/intel_idle/parameters",
    "/sys/module/libata/parameters",
    "/sys/module/nvme/parameters",
    "/sys/module/nvme_core/parameters",
    "/sys/module/pcie_aspm/parameters",
    "/sys/module/processor/parameters",
    "/sys/module/scsi_mod/parameters",
];

/// Directories full of links to devices, which go into the archive with everything above them.
pub(super) const DEVICES: [&str; 19] = [
    "/sys/block",
    "/sys/bus/pci/devices",
    "/sys/class/ata_device",
    "/sys/class/ata_link",
    "/sys/class/ata_port",
    "/sys/class/block",
    "/sys/class/dmi",
    "/sys/class/hwmon",
    "/sys/class/nvme",
    "/sys/class/nvme-subsystem",
    "/sys/class/platform-profile",
    "/sys/class/power_supply",
    "/sys/class/powercap",
    "/sys/class/scsi_device",
    "/sys/class/scsi_disk",
    "/sys/class/scsi_host",
    "/sys/class/thermal",
    "/sys/dev/block",
    "/sys/devices/system/node",
];

/// Directories within a device that belong to it; others are devices of their own, or nobody's business.
pub(super) fn is_within_device(name: &str) -> bool {
    const NAMES: [&str; 10] = ["bcache", "dm", "holders", "iosched", "link", "loop", "md", "power", "queue", "slaves"];
    NAMES.contains(&name) || name.starts_with("hwmon")
}

/// What is of interest of a PCI function that is no drive's: graphics cards have hundreds of files, and some wake them.
pub(super) const OF_PCI: [&str; 24] = [
    "ari_enabled",
    "class",
    "current_link_speed",
    "current_link_width",
    "d3cold_allowed",
    "device",
    "driver",
    "enable",
    "firmware_node",
    "index",
    "irq",
    "label",
    "local_cpulist",
    "local_cpus",
    "max_link_speed",
    "max_link_width",
    "msi_bus",
    "numa_node",
    "power_state",
    "revision",
    "subsystem",
    "subsystem_device",
    "subsystem_vendor",
    "vendor",
];

/// What is of interest of the firmware's tables; the rest is serial numbers.
pub(super) const OF_DMI: [&str; 10] = [
    "bios_date",
    "bios_vendor",
    "bios_version",
    "board_name",
    "board_vendor",
    "chassis_type",
    "product_family",
    "product_name",
    "product_version",
    "sys_vendor",
];

/// Of a NUMA node: not its memory.
pub(super) const OF_NODE: [&str; 3] = ["cpulist", "cpumap", "distance"];

/// Directories within [`TREES`] that say nothing about power.
pub(super) const SKIPPED_DIRS: [&str; 4] = ["cache", "crash_hotplug", "hotplug", "cpufreq_stats"];

/// Files that are never read: reading them does something, they are secret, or they are large and useless here.
pub(super) fn is_skipped(name: &str) -> bool {
    const STARTS: [&str; 11] = [
        "resource",
        "dhchap",
        "tls_",
        "trace",
        "reset",
        "rescan",
        "vpd_pg83",
        "remove",
        "delete",
        "crash_notes",
        "emul_",
    ];
    const NAMES: [&str; 12] = [
        "autosuspend",
        "bos_descriptors",
        "config",
        "descriptors",
        "driver_override",
        "inquiry",
        "modalias",
        "pagemap",
        "rom",
        "trans_table",
        "uevent",
        "vpd",
    ];
    STARTS.iter().any(|s| name.starts_with(s))
        || NAMES.contains(&name)
        || name.contains("secret")
        || name.ends_with("_key")
}
