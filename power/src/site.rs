//! Every place in the kernel that Brakecheck may ever write to. The set is closed: whatever is not here cannot be
//! written, whoever asks. A site is made of numbers and device names, never of a path.

use crate::name::Name;
use crate::root::Root;
use serde::{Deserialize, Serialize};

/// One kernel file (or handle) that holds a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "site", rename_all = "kebab-case")]
pub enum Site {
    /// `platform_profile` of ACPI.
    PlatformProfile,
    /// A hold on a profile at the profile daemon, by D-Bus. Released with the holder.
    ProfileHold,
    /// The global policy of ASPM.
    AspmPolicy,
    /// One bit of a link's power management, at the device's end.
    LinkBit {
        /// Address of the device.
        device: Name,
        /// Which bit.
        bit: LinkBit,
    },
    /// Target speed of the link below a port, through the cooling device of bwctrl (Linux 6.13).
    LinkSpeed {
        /// Address of the port.
        port: Name,
    },
    /// Runtime power management of a PCI device.
    RuntimePm {
        /// Its address.
        device: Name,
    },
    /// Link power management of a SATA port.
    SataPolicy {
        /// `hostN`.
        host: u32,
    },
    /// Commands a SCSI or SATA disk is given at a time; 1 turns NCQ off.
    QueueDepth {
        /// Kernel name.
        disk: Name,
    },
    /// Latency that NVMe's autonomous power state transitions may add, in microseconds.
    Apst {
        /// Kernel name of the controller: `nvme0`.
        controller: Name,
    },
    /// Operational power state of an NVMe controller (feature 2, never saved).
    PowerState {
        /// Kernel name of the controller.
        controller: Name,
    },
    /// I/O scheduler.
    Scheduler {
        /// Kernel name.
        disk: Name,
    },
    /// Whether requests are merged.
    Nomerges {
        /// Kernel name.
        disk: Name,
    },
    /// Which CPU completes a request.
    RqAffinity {
        /// Kernel name.
        disk: Name,
    },
    /// Latency target of write-back throttling in microseconds.
    Wbt {
        /// Kernel name.
        disk: Name,
    },
    /// Frequency governor of a policy.
    Governor {
        /// `policyN`.
        policy: u32,
    },
    /// Energy performance preference of a policy.
    Epp {
        /// `policyN`.
        policy: u32,
    },
    /// Lowest frequency of a policy in kHz.
    FrequencyFloor {
        /// `policyN`.
        policy: u32,
    },
    /// Energy performance bias of a CPU.
    Epb {
        /// Number.
        cpu: u32,
    },
    /// `no_turbo` of `intel_pstate`.
    NoTurbo,
    /// Global `boost`.
    Boost,
    /// `boost` of a policy (Linux 6.11).
    PolicyBoost {
        /// `policyN`.
        policy: u32,
    },
    /// `disable` of one idle state of one CPU.
    IdleDisable {
        /// Number of the CPU.
        cpu: u32,
        /// `stateN`.
        state: u32,
    },
    /// `/dev/cpu_dma_latency`: a limit in microseconds, in force while the file is held open.
    LatencyLimit,
    /// The watchdog that interrupts each CPU through a performance counter.
    NmiWatchdog,
    /// Whether a CPU is online.
    CpuOnline {
        /// Number.
        cpu: u32,
    },
    /// Simultaneous multithreading. `forceoff` is never written.
    Smt,
}

/// A bit of a link's power management (`link/` of a PCI device, Linux 5.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkBit {
    /// L0s.
    L0s,
    /// L1.
    L1,
    /// L1.1, by ASPM.
    L11,
    /// L1.2, by ASPM.
    L12,
    /// Clock power management.
    ClockPm,
}

impl LinkBit {
    /// Name of the file.
    pub fn file(self) -> &'static str {
        match self {
            Self::L0s => "l0s_aspm",
            Self::L1 => "l1_aspm",
            Self::L11 => "l1_1_aspm",
            Self::L12 => "l1_2_aspm",
            Self::ClockPm => "clkpm",
        }
    }
}

const CPU: &str = "/sys/devices/system/cpu";

impl Site {
    /// The kernel's file, as a path below the root. `None` for what has no file, and for a link-speed device that is
    /// not there: its number changes from boot to boot, so it is found by its type.
    pub fn path(&self, root: &Root) -> Option<String> {
        if let Self::LinkSpeed { port } = self {
            let wanted = format!("PCIe_Port_Link_Speed_{port}");
            let devices = root.dir("/sys/class/thermal")?.numbered("cooling_device");
            let device = devices.into_iter().find(|d| d.read("type").as_deref() == Some(&wanted))?;
            return Some(format!("{}/cur_state", device.path()));
        }
        self.template(&|number: u32| number.to_string())
    }

    /// The files of this setting on all CPUs or policies at once, as a shell pattern: `policy[0-9]*`. Where there is
    /// only one such file, its path. `None` as for [`Self::path`].
    pub fn pattern(&self) -> Option<String> {
        self.template(&|_| "[0-9]*".to_owned())
    }

    /// The path, with the numbers of CPUs and policies spelt so.
    fn template(&self, number: &dyn Fn(u32) -> String) -> Option<String> {
        let cpu = |cpu: u32| format!("{CPU}/cpu{}", number(cpu));
        let policy = |policy: u32| format!("{CPU}/cpufreq/policy{}", number(policy));
        Some(match self {
            Self::PlatformProfile => "/sys/firmware/acpi/platform_profile".into(),
            Self::ProfileHold | Self::LinkSpeed { .. } => return None,
            Self::AspmPolicy => "/sys/module/pcie_aspm/parameters/policy".into(),
            Self::LinkBit { device, bit } => format!("/sys/bus/pci/devices/{device}/link/{}", bit.file()),
            Self::RuntimePm { device } => format!("/sys/bus/pci/devices/{device}/power/control"),
            Self::SataPolicy { host } => format!("/sys/class/scsi_host/host{host}/link_power_management_policy"),
            Self::QueueDepth { disk } => format!("/sys/block/{disk}/device/queue_depth"),
            Self::Apst { controller } => format!("/sys/class/nvme/{controller}/power/pm_qos_latency_tolerance_us"),
            Self::PowerState { controller } => format!("/dev/{controller}"),
            Self::Scheduler { disk } => format!("/sys/block/{disk}/queue/scheduler"),
            Self::Nomerges { disk } => format!("/sys/block/{disk}/queue/nomerges"),
            Self::RqAffinity { disk } => format!("/sys/block/{disk}/queue/rq_affinity"),
            Self::Wbt { disk } => format!("/sys/block/{disk}/queue/wbt_lat_usec"),
            Self::Governor { policy: n } => format!("{}/scaling_governor", policy(*n)),
            Self::Epp { policy: n } => format!("{}/energy_performance_preference", policy(*n)),
            Self::FrequencyFloor { policy: n } => format!("{}/scaling_min_freq", policy(*n)),
            Self::Epb { cpu: n } => format!("{}/power/energy_perf_bias", cpu(*n)),
            Self::NoTurbo => format!("{CPU}/intel_pstate/no_turbo"),
            Self::Boost => format!("{CPU}/cpufreq/boost"),
            Self::PolicyBoost { policy: n } => format!("{}/boost", policy(*n)),
            Self::IdleDisable { cpu: n, state } => format!("{}/cpuidle/state{state}/disable", cpu(*n)),
            Self::LatencyLimit => "/dev/cpu_dma_latency".into(),
            Self::NmiWatchdog => "/proc/sys/kernel/nmi_watchdog".into(),
            Self::CpuOnline { cpu: n } => format!("{}/online", cpu(*n)),
            Self::Smt => format!("{CPU}/smt/control"),
        })
    }

    /// What is written for people: the path, or what stands for it.
    pub fn source(&self, root: &Root) -> String {
        self.path(root).unwrap_or_else(|| match self {
            Self::LinkSpeed { port } => format!("cooling device PCIe_Port_Link_Speed_{port}"),
            _ => "net.hadess.PowerProfiles HoldProfile".into(),
        })
    }

    /// Settings are made in ascending order of this. What decides whether something else can be written (governor
    /// before EPP, ASPM policy before its bits) goes first; CPUs go last, since their files go with them.
    pub fn rank(&self) -> u8 {
        match self {
            Self::PlatformProfile | Self::ProfileHold => 0,
            Self::Governor { .. } => 1,
            Self::AspmPolicy => 2,
            Self::CpuOnline { .. } => 10,
            Self::Smt => 11,
            _ => 5,
        }
    }

    /// Settings are put back in ascending order of this: CPUs first, threads before single CPUs (turning threads on
    /// brings back every CPU, those of the administrator too), then as [`Site::rank`].
    pub fn restore_rank(&self) -> u8 {
        match self {
            Self::Smt => 0,
            Self::CpuOnline { .. } => 1,
            _ => 2 + self.rank(),
        }
    }

    /// The one spelling of a value, from what the file says: the chosen word of `[a] b c`, the number a name stands
    /// for, `1` for `Y`. Two values are the same setting if and only if these are equal.
    pub fn normalise(&self, text: &str) -> String {
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        let text = text.lines().next().unwrap_or_default().trim();
        match self {
            Self::AspmPolicy | Self::Scheduler { .. } => {
                crate::root::bracketed(text).unwrap_or_else(|| text.to_owned())
            }
            Self::Epb { .. } => match text {
                "performance" => "0",
                "balance-performance" => "4",
                "normal" => "6",
                "balance-power" => "8",
                "power" => "15",
                other => other,
            }
            .to_owned(),
            Self::LinkBit { .. } | Self::NoTurbo | Self::Boost | Self::PolicyBoost { .. } => match text {
                "Y" | "y" | "on" => "1",
                "N" | "n" | "off" => "0",
                other => other,
            }
            .to_owned(),
            // Any non-zero number disables.
            Self::IdleDisable { .. } => if text == "0" { "0" } else { "1" }.to_owned(),
            Self::Apst { .. } if text == "any" => "auto".to_owned(),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_one_spelling() {
        let disk = || Name::new("sda").unwrap();
        let cases = [
            (Site::Scheduler { disk: disk() }, "none [mq-deadline] kyber\n", "mq-deadline"),
            (Site::AspmPolicy, "[default] performance powersave", "default"),
            (Site::Epb { cpu: 0 }, "balance-power\n", "8"),
            (Site::Epb { cpu: 0 }, "6\n", "6"),
            (Site::NoTurbo, "0\n", "0"),
            (Site::IdleDisable { cpu: 1, state: 2 }, "2\n", "1"),
            (Site::Apst { controller: Name::new("nvme0").unwrap() }, "any\n", "auto"),
        ];
        for (site, text, wanted) in cases {
            assert_eq!(site.normalise(text), wanted, "{site:?}");
            assert_eq!(site.normalise(wanted), wanted, "{site:?}");
        }
    }

    #[test]
    fn a_site_in_a_journal_cannot_lead_elsewhere() {
        let bad = r#"{"site":"scheduler","disk":"../../etc"}"#;
        assert!(serde_json::from_str::<Site>(bad).unwrap_err().to_string().contains("not the name of a device"));
        let good = r#"{"site":"scheduler","disk":"sda"}"#;
        let site: Site = serde_json::from_str(good).unwrap();
        assert_eq!(serde_json::to_string(&site).unwrap(), good);
    }
}
