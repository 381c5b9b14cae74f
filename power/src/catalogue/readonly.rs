//! What is worth knowing and cannot be changed while the system runs.

use super::about::{absent, control, instance};
use super::machine::{CPU, Machine};
use super::pci::{Function, or_absent, storage};
use crate::control::Control;
use crate::host::cpu_flags;

const FIRMWARE: &str = "set in firmware, and takes a restart";

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let mut all = vec![idle_driver(machine), virtualization(machine), thermal_monitor(machine), prochot()];
    all.extend(sata_mode(machine));
    all.push(poll_queues(machine));
    all
}

/// Something that is only shown: its value, why it stays, and where it was read.
fn shown(control: Control, value: impl Into<String>, reason: &str, source: impl Into<String>) -> Control {
    Control { value: Some(value.into()), reason: Some(reason.into()), source: source.into(), ..control }
}

fn idle_driver(machine: &Machine<'_>) -> Control {
    let id = "cpu.idle-driver";
    let path = format!("{CPU}/cpuidle/current_driver");
    match machine.root.read(&path) {
        Some(driver) => shown(control(id), driver, "chosen when the kernel starts", path),
        None => absent(id, machine.lacking("no idle driver", "firmware describes no idle states")),
    }
}

fn virtualization(machine: &Machine<'_>) -> Control {
    let id = "cpu.virtualization";
    let flags = cpu_flags(machine.root).unwrap_or_default();
    let name = [("vmx", "VT-x"), ("svm", "AMD-V")].iter().find(|(flag, _)| flags.iter().any(|f| f == flag));
    match name {
        Some((_, name)) => shown(control(id), *name, FIRMWARE, "/proc/cpuinfo"),
        None if flags.is_empty() => absent(id, "the kernel does not tell whether the CPU has it"),
        None => {
            shown(control(id), "off", "not in this CPU, off in firmware, or hidden from this machine", "/proc/cpuinfo")
        }
    }
}

/// Events since the kernel started, where they are counted (Intel).
fn thermal_monitor(machine: &Machine<'_>) -> Control {
    let id = "cpu.thermal-monitor";
    let why = "protects the CPU, so it stays on";
    let counts = |name: &str| -> u64 {
        machine.online().filter_map(|c| c.dir.parse::<u64>(&format!("thermal_throttle/{name}"))).max().unwrap_or(0)
    };
    if machine.online().any(|c| c.dir.look("thermal_throttle/core_throttle_count").is_some()) {
        let events = counts("core_throttle_count").max(counts("package_throttle_count"));
        let detail = format!("has slowed a CPU {events} times since the start");
        let source = format!("{CPU}/cpu0/thermal_throttle/core_throttle_count");
        return shown(control(id), "on", why, source).noting((events > 0).then_some(detail));
    }
    let flags = cpu_flags(machine.root).unwrap_or_default();
    if flags.iter().any(|f| f == "tm" || f == "tm2") {
        return shown(control(id), "on", why, "/proc/cpuinfo");
    }
    absent(id, machine.lacking("this CPU counts no throttling", "the kernel has no counters for it"))
}

fn prochot() -> Control {
    absent("cpu.prochot", "firmware's: a register of the CPU that Brakecheck never touches")
}

/// PCI class codes of the class "mass storage": IDE, RAID, AHCI.
fn sata_mode(machine: &Machine<'_>) -> Vec<Control> {
    let id = "sata.mode";
    let control = |f: &Function<'_>| {
        let mode = match f.class >> 8 {
            0x0101 => "IDE",
            0x0104 => "RAID",
            0x0106 => "AHCI",
            _ => return None,
        };
        Some(shown(instance(id, &f.address), mode, FIRMWARE, format!("{}/class", f.dir.path())))
    };
    or_absent(storage(machine).iter().filter_map(control).collect(), id, "no SATA controller on a PCI bus here")
}

fn poll_queues(machine: &Machine<'_>) -> Control {
    let id = "nvme.poll-queues";
    let path = "/sys/module/nvme/parameters/poll_queues";
    match machine.root.read(path) {
        Some(queues) => shown(control(id), queues, "set when the NVMe driver is loaded (nvme.poll_queues=)", path),
        None => absent(id, "the NVMe driver is not loaded"),
    }
}
