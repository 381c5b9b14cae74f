//! Daemons that change power settings by themselves, and so may undo or disturb what is measured.

use crate::root::Root;

/// Process names (the kernel keeps 15 characters of them) and what people call the daemon.
const KNOWN: [(&str, &str); 19] = [
    ("tuned", "tuned"),
    ("tuned-ppd", "tuned-ppd"),
    ("power-profiles-", "power-profiles-daemon"),
    ("tlp", "tlp"),
    ("tlp-pd", "tlp-pd"),
    ("auto-cpufreq", "auto-cpufreq"),
    ("thermald", "thermald"),
    ("system76-power", "system76-power"),
    ("system76-schedu", "system76-scheduler"),
    ("intel_lpmd", "intel-lpmd"),
    ("irqbalance", "irqbalance"),
    ("cpufreqd", "cpufreqd"),
    ("laptop_mode", "laptop-mode-tools"),
    ("lmt-poll", "laptop-mode-tools"),
    ("watt", "watt"),
    ("asusd", "asusd"),
    ("tccd", "tuxedo-control-center"),
    ("powertop", "powertop"),
    ("gamemoded", "gamemode"),
];

/// Those that are running, sorted.
pub(super) fn running(root: &Root) -> Vec<String> {
    let pids = root.dir("/proc").map(|d| d.names()).unwrap_or_default();
    let pids = pids.iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let comms = pids.filter_map(|pid| root.read(&format!("/proc/{pid}/comm")));
    let named = |comm: String| KNOWN.iter().find(|(c, _)| *c == comm).map(|(_, name)| (*name).to_owned());
    let mut found: Vec<String> = comms.filter_map(named).collect();
    // TLP acts on events and leaves no process, but keeps its state there.
    if root.exists("/run/tlp") {
        found.push("tlp".into());
    }
    found.sort();
    found.dedup();
    found
}
