//! Knobs of the recorded laptop, each with a file that says whether it saves.

use std::path::Path;
use tests::Setting;

/// A knob that a cost can be planted on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Knob {
    pub(crate) id: &'static str,
    /// Below the tree.
    pub(crate) file: &'static str,
    /// What the file says while the knob saves.
    pub(crate) saving: &'static str,
}

impl Knob {
    /// Its setting below this tree.
    pub(crate) fn below(&self, tree: &Path) -> Setting {
        Setting { file: tree.join(self.file), saving: self.saving.into() }
    }
}

/// Those of every experiment: processor, link and drive; none acts on another's files.
pub(crate) const KNOBS: [Knob; 6] = [
    Knob { id: "cpu.turbo", file: "sys/devices/system/cpu/intel_pstate/no_turbo", saving: "1" },
    Knob { id: "cpu.epb", file: "sys/devices/system/cpu/cpu0/power/energy_perf_bias", saving: "15" },
    Knob {
        id: "cpu.frequency-floor",
        file: "sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq",
        saving: "400000",
    },
    Knob {
        id: "pcie.aspm",
        file: "sys/module/pcie_aspm/parameters/policy",
        saving: "default performance powersave [powersupersave]",
    },
    Knob {
        id: "pcie.clock-pm@0000:01:00.0",
        file: "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/link/clkpm",
        saving: "1",
    },
    Knob {
        id: "sata.link-power@host0",
        file: "sys/class/scsi_host/host0/link_power_management_policy",
        saving: "med_power_with_dipm",
    },
];

/// What a check of a laptop tries besides.
pub(crate) const MORE: [&str; 2] = ["nvme.apst@nvme0", "pci.runtime-pm@0000:01:00.0"];
