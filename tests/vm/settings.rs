//! Every setting of the machine as the kernel's files say it, to be compared after each restore.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files, whatever the program takes for its own.
const FILES: [&str; 21] = [
    "/proc/sys/kernel/nmi_watchdog",
    "/sys/block/*/device/queue_depth",
    "/sys/block/*/queue/nomerges",
    "/sys/block/*/queue/rq_affinity",
    "/sys/block/*/queue/scheduler",
    "/sys/block/*/queue/wbt_lat_usec",
    "/sys/bus/pci/devices/*/link/*",
    "/sys/bus/pci/devices/*/power/control",
    "/sys/class/nvme/*/power/pm_qos_latency_tolerance_us",
    "/sys/class/scsi_host/*/link_power_management_policy",
    "/sys/devices/system/cpu/cpu*/cpuidle/state*/disable",
    "/sys/devices/system/cpu/cpu*/online",
    "/sys/devices/system/cpu/cpu*/power/energy_perf_bias",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/cpufreq/policy*/boost",
    "/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    "/sys/devices/system/cpu/cpufreq/policy*/scaling_m*_freq",
    "/sys/devices/system/cpu/smt/control",
    "/sys/firmware/acpi/platform_profile",
    "/sys/module/pcie_aspm/parameters/policy",
];

/// Text by path.
pub(crate) type Settings = BTreeMap<PathBuf, String>;

/// All of them now.
pub(crate) fn now() -> Settings {
    let files = FILES.iter().flat_map(|pattern| matching(pattern));
    files.filter_map(|path| Some((path.clone(), text(&path)?))).collect()
}

/// Where two differ, in words.
pub(crate) fn difference(before: &Settings, after: &Settings) -> Vec<String> {
    let paths = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    let of = |all: &Settings, path: &Path| all.get(path).map_or("absent", String::as_str).to_owned();
    let different = paths.filter(|path| before.get(*path) != after.get(*path));
    different.map(|path| format!("{}: {} -> {}", path.display(), of(before, path), of(after, path))).collect()
}

/// A file's text without its line end.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// A file's number.
pub(crate) fn number(path: impl AsRef<Path>) -> Option<u64> {
    text(path)?.parse().ok()
}

/// Paths of a pattern, in which `*` stands for any part of a name.
pub(crate) fn matching(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.split('/').filter(|p| !p.is_empty()) {
        found = match part.split_once('*') {
            None => found.into_iter().map(|dir| dir.join(part)).filter(|p| p.exists()).collect(),
            Some((start, end)) => {
                let fits = |name: &str| name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end));
                let below = |dir: PathBuf| {
                    let mut names: Vec<String> = fs::read_dir(dir.clone())
                        .into_iter()
                        .flatten()
                        .filter_map(|e| e.ok()?.file_name().into_string().ok())
                        .filter(|name| fits(name))
                        .collect();
                    names.sort_by_key(|n| (n.len(), n.clone()));
                    names.into_iter().map(move |name| dir.join(name)).collect::<Vec<_>>()
                };
                found.into_iter().flat_map(below).collect()
            }
        };
    }
    found
}
