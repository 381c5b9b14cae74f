//! What shows that a value is in force, other than the file it was written to, read without the program's own readers.

mod cpus;
mod frequency;
mod idle;
mod link;
mod queue;

use crate::settings::{Settings, matching, text};

/// What is found, or what must be found later.
pub(crate) enum Proof {
    /// The kernel shows it, or not.
    Kernel(Result<String, String>),
    /// The drive's log must have a line that begins with the first word and has all others, by commas.
    Drive(String),
}

/// Whether a setting is in force only while a process holds it.
pub(crate) fn is_held(id: &str) -> bool {
    id == "cpu.latency-limit"
}

/// What must be set for this knob to be free: the governor `performance` fixes the energy preference.
pub(crate) fn before(id: &str) -> Option<&'static str> {
    let fixed = id == "cpu.epp" && frequency::has_fixed_preference();
    fixed.then_some("cpu.governor=powersave")
}

/// The kernel's refusal of a value that is written by hand, of settings that it offers and may not have.
pub(crate) fn refusal(id: &str, value: &str) -> Option<std::io::Error> {
    let path = match id {
        "cpu.turbo" => "/sys/devices/system/cpu/cpufreq/boost",
        "kernel.nmi-watchdog" => "/proc/sys/kernel/nmi_watchdog",
        _ => return None,
    };
    std::fs::write(path, if value == "on" { "1" } else { "0" }).err()
}

/// Everything that shows whether a knob has this value. `original` are the settings at the start.
pub(crate) fn of(id: &str, value: &str, original: &Settings) -> Vec<Proof> {
    let (knob, instance) = id.split_once('@').unwrap_or((id, ""));
    let kernel = |found| vec![Proof::Kernel(found)];
    match knob {
        "cpu.deep-idle" => kernel(idle::deepest(value)),
        "cpu.latency-limit" => kernel(idle::limit(value)),
        "cpu.governor" => kernel(frequency::governor(value)),
        "cpu.turbo" => kernel(frequency::turbo(value)),
        "cpu.frequency-floor" => kernel(frequency::floor(value)),
        "cpu.epp" => kernel(all_are("/sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference", value)),
        "cpu.smt" => kernel(cpus::threads(value)),
        "cpu.cores" => kernel(cpus::online(value)),
        "pcie.aspm" => link::policy(value, original),
        "pcie.aspm-l0s" => link::bit(instance, 1, value),
        "pcie.aspm-l1" => link::bit(instance, 2, value),
        "pcie.clock-pm" => link::bit(instance, 0x100, value),
        "pci.runtime-pm" => kernel(link::runtime(instance, value)),
        "sata.link-power" => link::sata(instance, value),
        "sata.ncq" => kernel(queue::commands(instance, value)),
        "nvme.apst" => vec![Proof::Drive(if value == "off" { "APST, off" } else { "APST, on" }.into())],
        "nvme.power-state" => vec![Proof::Drive(format!(
            "power state,{}",
            value.trim_start_matches("PS").split(' ').next().unwrap_or_default()
        ))],
        "block.scheduler" => kernel(queue::scheduler(instance, value)),
        "block.nomerges" => kernel(queue::merges(instance, value)),
        "block.rq-affinity" => kernel(queue::affinity(instance, value)),
        "block.wbt" => kernel(queue::throttling(instance, value)),
        "kernel.nmi-watchdog" => {
            kernel(all_are("/proc/sys/kernel/nmi_watchdog", if value == "on" { "1" } else { "0" }))
        }
        _ => kernel(Err("nothing here can tell whether it is in force".into())),
    }
}

/// Whether all files of a pattern say this.
fn all_are(pattern: &str, value: &str) -> Result<String, String> {
    let files = matching(pattern);
    let other = files.iter().find(|path| text(path).as_deref() != Some(value));
    match (files.len(), other) {
        (0, _) => Err(format!("no {pattern}")),
        (n, None) => Ok(format!("{n} files say {value}")),
        (_, Some(path)) => Err(format!("{} says {:?}", path.display(), text(path))),
    }
}

/// Waits until something is so, at most as long as a slow machine may take.
fn await_that(what: impl Fn() -> Result<String, String>) -> Result<String, String> {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let found = what();
        if found.is_ok() || std::time::Instant::now() > end {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}
