//! Names of the knobs, as people and firmware setups know them.

use crate::control::Control;
use protocol::knob::Group::{self, Cpu, Drive, Link, Pcie, Platform, Queue};

/// Id without instance, name, what it does, where it acts; in the order in which they are shown.
const ALL: [(&str, &str, &str, Group); 34] = [
    ("platform.profile", "Platform profile", "firmware's choice between quiet and fast", Platform),
    ("kernel.nmi-watchdog", "NMI watchdog", "interrupts each CPU to find lockups", Platform),
    ("cpu.turbo", "Turbo Boost, Core Performance Boost", "clocks above the base frequency", Cpu),
    ("cpu.governor", "Frequency governor (SpeedStep, Cool'n'Quiet)", "how frequency follows load", Cpu),
    ("cpu.epp", "Energy performance preference (Speed Shift, CPPC)", "the CPU's own eagerness to speed up", Cpu),
    ("cpu.epb", "Energy performance bias", "the CPU's leaning where it has no EPP", Cpu),
    ("cpu.frequency-floor", "Lowest CPU frequency", "how far the clock may fall", Cpu),
    ("cpu.deep-idle", "C-states (C3, C6, C7 ...)", "how deeply an idle CPU may sleep", Cpu),
    ("cpu.c1e", "C1E (enhanced halt)", "lowers clock and voltage while halted", Cpu),
    ("cpu.latency-limit", "Wake-up latency limit (PM QoS)", "longest time an idle CPU may take to wake", Cpu),
    ("cpu.smt", "Hyper-Threading, SMT", "several threads on each core", Cpu),
    ("cpu.cores", "CPU cores enabled", "how many CPUs are online", Cpu),
    ("cpu.idle-driver", "Idle driver", "who puts idle CPUs to sleep", Cpu),
    ("cpu.virtualization", "Virtualization Technology (VT-x, AMD-V)", "hardware support for virtual machines", Cpu),
    ("cpu.thermal-monitor", "Thermal Monitor", "slows the CPU when it is hot", Cpu),
    ("cpu.prochot", "Bi-directional PROCHOT", "lets other parts slow the CPU", Cpu),
    ("pcie.aspm", "ASPM policy", "power management of all PCI Express links", Pcie),
    ("pcie.aspm-l0s", "ASPM L0s", "light sleep of one direction of the link", Pcie),
    ("pcie.aspm-l1", "ASPM L1", "sleep of the link between accesses", Pcie),
    ("pcie.aspm-l1.1", "ASPM L1.1 substate", "deeper sleep, common mode voltage kept", Pcie),
    ("pcie.aspm-l1.2", "ASPM L1.2 substate", "deepest sleep of the link", Pcie),
    ("pcie.clock-pm", "PCIe clock power management (CLKREQ#)", "stops the link's reference clock", Pcie),
    ("pcie.link-speed", "PCIe link speed (Gen 1, 2, 3 ...)", "rate of each lane of the link", Pcie),
    ("pci.runtime-pm", "PCI runtime power management (D3)", "switches off devices that do nothing", Pcie),
    ("sata.link-power", "SATA link power (ALPM, aggressive LPM)", "sleep of the link between commands", Link),
    ("sata.mode", "SATA mode (AHCI, IDE, RAID)", "how the controller is driven", Link),
    ("sata.ncq", "NCQ", "the drive orders several commands itself", Drive),
    ("nvme.apst", "NVMe APST", "the drive sleeps when it is idle", Drive),
    ("nvme.power-state", "NVMe power state", "most power the drive may draw", Drive),
    ("nvme.poll-queues", "NVMe poll queues", "queues without interrupts", Drive),
    ("block.scheduler", "I/O scheduler", "orders requests before the drive sees them", Queue),
    ("block.nomerges", "Merging of requests", "joins neighbouring requests into one", Queue),
    ("block.rq-affinity", "Completion CPU", "which CPU finishes a request", Queue),
    ("block.wbt", "Write-back throttling", "holds back buffered writes for reads", Queue),
];

/// A knob of which there is one.
pub(super) fn control(id: &str) -> Control {
    let (_, title, about, group) = ALL.iter().find(|(known, ..)| *known == id).copied().unwrap_or((id, id, "", Cpu));
    Control { id: id.into(), title: title.into(), about: about.into(), group: Some(group), ..Control::default() }
}

/// A knob of one device.
pub(super) fn instance(id: &str, of: &str) -> Control {
    Control { id: format!("{id}@{of}"), ..control(id) }
}

/// A knob that this host lacks, and why.
pub(super) fn absent(id: &str, reason: impl Into<String>) -> Control {
    Control { reason: Some(reason.into()), ..control(id) }
}

/// Place in the order in which knobs are shown; instances of one knob have the same.
pub(super) fn position(id: &str) -> usize {
    let bare = id.split_once('@').map_or(id, |(bare, _)| bare);
    ALL.iter().position(|(known, ..)| *known == bare).unwrap_or(ALL.len())
}
