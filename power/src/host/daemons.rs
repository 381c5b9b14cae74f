//! Daemons that change power settings by themselves, and so may undo or disturb what is measured.

use crate::root::Root;

/// One of them.
#[derive(Debug)]
struct Daemon {
    /// As people call it.
    name: &'static str,
    /// Its processes; the kernel keeps 15 characters of a name.
    processes: &'static [&'static str],
    /// What it changes.
    does: &'static str,
}

const fn daemon(name: &'static str, processes: &'static [&'static str], does: &'static str) -> Daemon {
    Daemon { name, processes, does }
}

const TLP: &str = "sets governor, EPP, turbo, ASPM, runtime PM and SATA link power anew at each change of power supply and after sleep, and leaves no process";

const KNOWN: [Daemon; 18] = [
    daemon(
        "tuned",
        &["tuned"],
        "holds the settings of its profile; a restart of it takes what it finds for the original",
    ),
    daemon("tuned-ppd", &["tuned-ppd"], "changes tuned's profile when the desktop or a key asks for it"),
    daemon(
        "power-profiles-daemon",
        &["power-profiles-"],
        "sets platform profile, governor, EPP and EPB at each change of profile and after sleep",
    ),
    daemon("tlp", &["tlp"], TLP),
    daemon("tlp-pd", &["tlp-pd"], "has tlp apply a profile when the desktop or a key asks for it"),
    daemon(
        "auto-cpufreq",
        &["auto-cpufreq"],
        "sets governor, EPP and turbo every few seconds, by load and power supply",
    ),
    daemon(
        "thermald",
        &["thermald"],
        "limits power and frequency when it is warm, and also drives the PCI Express link speed",
    ),
    daemon(
        "system76-power",
        &["system76-power"],
        "sets governor, turbo, power limits, SATA link power and runtime PM at each change of profile",
    ),
    daemon(
        "system76-scheduler",
        &["system76-schedu"],
        "changes the scheduler's settings when the desktop or the power supply asks for it",
    ),
    daemon("intel-lpmd", &["intel_lpmd"], "confines work to few cores and changes EPP and EPB when the load is low"),
    daemon("irqbalance", &["irqbalance"], "moves interrupts between CPUs every ten seconds"),
    daemon("cpufreqd", &["cpufreqd"], "sets governor and frequency limits by load, power supply and temperature"),
    daemon(
        "laptop-mode-tools",
        &["laptop_mode", "lmt-poll"],
        "sets governor, ASPM, runtime PM and SATA link power at each change of power supply, and leaves no process",
    ),
    daemon(
        "watt",
        &["watt"],
        "sets governor, EPP, EPB, idle latency and SATA link power every few seconds, by its rules",
    ),
    daemon("asusd", &["asusd"], "sets platform profile and EPP at each change of profile or power supply"),
    daemon(
        "tuxedo-control-center",
        &["tccd"],
        "sets governor, EPP, turbo and the number of CPUs online, and corrects them every few seconds",
    ),
    daemon("powertop", &["powertop"], "sets runtime PM and SATA link power to saving when it starts with --auto-tune"),
    daemon("gamemode", &["gamemoded"], "sets governor and platform profile while a game runs"),
];

/// Services that act at events and are gone in between. That they are enabled is all that can be seen of them.
const WITHOUT_PROCESS: [(&str, &str); 2] = [("tlp.service", "tlp"), ("laptop-mode.service", "laptop-mode-tools")];

/// Where systemd keeps the links to what is enabled; TLP's own state shows that it has acted.
const ENABLED: &str = "/etc/systemd/system/multi-user.target.wants";
const TLP_STATE: &str = "/run/tlp";

/// Those that are running, sorted.
pub(super) fn running(root: &Root) -> Vec<String> {
    found(root).into_iter().map(|d| d.name.to_owned()).collect()
}

/// Those that are running, sorted, each with what it changes: `thermald limits power ...`.
pub fn conflicts(root: &Root) -> Vec<String> {
    found(root).into_iter().map(|d| format!("{} {}", d.name, d.does)).collect()
}

/// Whether a process of this name is one of them.
pub(crate) fn is_daemon(process: &str) -> bool {
    KNOWN.iter().any(|d| d.processes.contains(&process))
}

fn found(root: &Root) -> Vec<&'static Daemon> {
    let pids = root.dir("/proc").map(|d| d.names()).unwrap_or_default();
    let pids = pids.iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let comms: Vec<String> = pids.filter_map(|pid| root.read(&format!("/proc/{pid}/comm"))).collect();
    // The links lead to files that an archive does not have, so they are not followed.
    let enabled = root.dir(ENABLED).map(|d| d.names()).unwrap_or_default();
    let acts = |name: &str| {
        let enabled = WITHOUT_PROCESS.iter().any(|(unit, of)| *of == name && enabled.iter().any(|e| e == unit));
        enabled || name == "tlp" && root.exists(TLP_STATE)
    };
    let runs = |d: &&Daemon| d.processes.iter().any(|p| comms.iter().any(|c| c == p)) || acts(d.name);
    let mut found: Vec<&Daemon> = KNOWN.iter().filter(runs).collect();
    found.sort_by_key(|d| d.name);
    found
}
