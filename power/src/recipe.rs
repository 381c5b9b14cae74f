//! What would set a knob to a value, said without looking at a host: for profiles and scripts that are to be applied
//! later, or elsewhere.
//!
//! Ids, values and sources may come from a file of somebody else's. Whatever is in a [`Recipe`] is made of the closed
//! set of sites, of numbers, and of words that are letters, digits and a few signs, none of which means anything to a
//! shell or a configuration file. Only the name of an idle state may hold spaces.

use crate::catalogue::spelling::{self, Word};
use crate::name::Name;
use crate::site::{LinkBit, Site};

/// How a knob gets a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipe {
    /// A text written to a file.
    Write {
        /// Absolute; a shell pattern (`policy[0-9]*`) where there is one file for each CPU.
        path: String,
        /// In the kernel's spelling.
        value: String,
    },
    /// A file that gets the text of another one in its directory.
    Beside {
        /// As above.
        path: String,
        /// Name of the other file: `cpuinfo_min_freq`.
        from: &'static str,
    },
    /// Idle states up to the one of this name are allowed on each CPU, deeper ones are not; on a CPU that lacks it, up to
    /// what wakes as fast as it does where it is slowest. States that the driver keeps off (`default_status` is
    /// `disabled`) are left alone.
    IdleDepth {
        /// `C1E`; some drivers' names have a space: `haltpoll idle`.
        deepest: String,
    },
    /// The idle state C1E, allowed or not; left alone where the driver keeps it off.
    C1e {
        /// Whether it is allowed.
        allowed: bool,
    },
    /// `/dev/cpu_dma_latency` held open with a limit in microseconds; `None` is no limit.
    LatencyLimit {
        /// The limit.
        us: Option<u32>,
    },
    /// A profile of the daemon that owns them.
    Profile {
        /// Its name.
        name: String,
    },
    /// An operational power state of an NVMe controller.
    PowerState {
        /// `nvme0`.
        controller: Name,
        /// Its number.
        state: u8,
    },
}

/// Why there is no recipe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRecipe {
    /// No such knob.
    #[error("there is no such setting")]
    Unknown,
    /// The knob does not take this value.
    #[error("this is no value of it")]
    Value,
    /// It takes a look at the host.
    #[error("{0}")]
    Host(&'static str),
}

impl Recipe {
    /// The recipe for a knob as [`protocol::knob::Knob`] has it. `source` tells which of several files a host has.
    pub fn of(id: &str, value: &str, source: &str) -> Result<Self, NoRecipe> {
        let (kind, instance) = id.split_once('@').map_or((id, None), |(kind, of)| (kind, Some(of)));
        let device = || instance.and_then(Name::new).ok_or(NoRecipe::Unknown);
        let to = |site: &Site, value: Option<String>| {
            let path = site.pattern().ok_or(NoRecipe::Unknown)?;
            Ok(Self::Write { path, value: value.ok_or(NoRecipe::Value)? })
        };
        let own = || Some(value.to_owned()).filter(|v| is_word(v));
        let of = |words: &[Word]| words.iter().find(|(word, _)| *word == value).map(|(_, kernel)| (*kernel).to_owned());
        let one_of = |words: &[&str]| words.contains(&value).then(|| value.to_owned());
        let bit = |bit: LinkBit| to(&Site::LinkBit { device: device()?, bit }, of(&spelling::SWITCH));
        match kind {
            "platform.profile" if source.contains("HoldProfile") => {
                own().map(|name| Self::Profile { name }).ok_or(NoRecipe::Value)
            }
            "platform.profile" => to(&Site::PlatformProfile, own()),
            "kernel.nmi-watchdog" => to(&Site::NmiWatchdog, of(&spelling::SWITCH)),
            "cpu.turbo" if source.ends_with("/no_turbo") => to(&Site::NoTurbo, of(&spelling::REVERSED)),
            "cpu.turbo" if source.ends_with("/cpufreq/boost") => to(&Site::Boost, of(&spelling::SWITCH)),
            "cpu.turbo" => to(&Site::PolicyBoost { policy: 0 }, of(&spelling::SWITCH)),
            "cpu.governor" => to(&Site::Governor { policy: 0 }, own()),
            "cpu.epp" => to(&Site::Epp { policy: 0 }, own()),
            "cpu.epb" => to(&Site::Epb { cpu: 0 }, of(&spelling::EPB)),
            "cpu.frequency-floor" => floor(value),
            "cpu.deep-idle" => Some(value.to_owned())
                .filter(|v| is_name(v))
                .map(|deepest| Self::IdleDepth { deepest })
                .ok_or(NoRecipe::Value),
            "cpu.c1e" => of(&spelling::SWITCH).map(|v| Self::C1e { allowed: v == "1" }).ok_or(NoRecipe::Value),
            "cpu.latency-limit" if value == "none" => Ok(Self::LatencyLimit { us: None }),
            "cpu.latency-limit" => micros(value).map(|us| Self::LatencyLimit { us: Some(us) }).ok_or(NoRecipe::Value),
            "cpu.smt" => to(&Site::Smt, of(&spelling::SMT)),
            "cpu.cores" if value == "all" => to(&Site::CpuOnline { cpu: 0 }, Some("1".into())),
            "cpu.cores" => Err(NoRecipe::Host("which CPUs can go depends on where the drive is attached")),
            "pcie.aspm" => to(&Site::AspmPolicy, one_of(&spelling::ASPM)),
            "pcie.aspm-l0s" => bit(LinkBit::L0s),
            "pcie.aspm-l1" => bit(LinkBit::L1),
            "pcie.aspm-l1.1" => bit(LinkBit::L11),
            "pcie.aspm-l1.2" => bit(LinkBit::L12),
            "pcie.clock-pm" => bit(LinkBit::ClockPm),
            "pcie.link-speed" => {
                Err(NoRecipe::Host("the drive can vanish when its link is retrained, so it is not set unattended"))
            }
            "pci.runtime-pm" => to(&Site::RuntimePm { device: device()? }, one_of(&spelling::RUNTIME_PM)),
            "sata.link-power" => {
                let host = instance.and_then(|h| h.strip_prefix("host")?.parse().ok()).ok_or(NoRecipe::Unknown)?;
                to(&Site::SataPolicy { host }, one_of(&spelling::SATA_POLICIES))
            }
            // The kernel clamps to what the drive can do.
            "sata.ncq" => to(&Site::QueueDepth { disk: device()? }, of(&[("on", "32"), ("off", "1")])),
            "nvme.apst" => {
                let us = || micros(value).map(|us| us.to_string());
                to(&Site::Apst { controller: device()? }, of(&spelling::APST).or_else(us))
            }
            "nvme.power-state" => {
                let number = value.strip_prefix("PS").and_then(|rest| rest.split(' ').next()?.parse().ok());
                let state = number.filter(|n| *n < 32).ok_or(NoRecipe::Value)?;
                Ok(Self::PowerState { controller: device()?, state })
            }
            "block.scheduler" => to(&Site::Scheduler { disk: device()? }, own()),
            "block.nomerges" => to(&Site::Nomerges { disk: device()? }, of(&spelling::NOMERGES)),
            "block.rq-affinity" => to(&Site::RqAffinity { disk: device()? }, of(&spelling::RQ_AFFINITY)),
            // -1 is the kernel's own target for the kind of drive.
            "block.wbt" => {
                let us = || micros(value).map(|us| us.to_string());
                to(&Site::Wbt { disk: device()? }, of(&[("on", "-1"), ("off", "0")]).or_else(us))
            }
            _ => Err(NoRecipe::Unknown),
        }
    }
}

/// Place of a knob among those that are set together, as [`Site::rank`].
pub fn rank(id: &str) -> u8 {
    match id.split('@').next().unwrap_or_default() {
        "platform.profile" => Site::PlatformProfile.rank(),
        "cpu.governor" => Site::Governor { policy: 0 }.rank(),
        "pcie.aspm" => Site::AspmPolicy.rank(),
        "cpu.cores" => Site::CpuOnline { cpu: 0 }.rank(),
        "cpu.smt" => Site::Smt.rank(),
        _ => Site::NoTurbo.rank(),
    }
}

fn floor(value: &str) -> Result<Recipe, NoRecipe> {
    let from = match value {
        "lowest" => "cpuinfo_min_freq",
        "base" => "base_frequency",
        "highest" => "scaling_max_freq",
        _ => return Err(NoRecipe::Value),
    };
    let path = Site::FrequencyFloor { policy: 0 }.pattern().ok_or(NoRecipe::Unknown)?;
    Ok(Recipe::Beside { path, from })
}

/// `100000 us`.
fn micros(value: &str) -> Option<u32> {
    value.strip_suffix(" us")?.parse().ok().filter(|us| *us <= 2_000_000_000)
}

/// Longest word that any kernel has for a governor, a profile, a scheduler or an idle state, and then some.
const LONGEST: usize = 32;

/// Letters, digits and signs in the middle.
fn is_word(value: &str) -> bool {
    let fits = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.');
    let begins = value.bytes().next().is_some_and(|c| c.is_ascii_alphanumeric());
    begins && value.len() <= LONGEST && value.bytes().all(fits)
}

/// Words with single spaces between them.
fn is_name(value: &str) -> bool {
    value.len() <= LONGEST && value.split(' ').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::{NoRecipe, Recipe};

    fn written(id: &str, value: &str, source: &str) -> Option<(String, String)> {
        match Recipe::of(id, value, source).unwrap() {
            Recipe::Write { path, value } => Some((path, value)),
            _ => None,
        }
    }

    #[test]
    fn what_is_written_depends_on_the_file_that_a_host_has() {
        let turbo = |source: &str| written("cpu.turbo", "off", source).unwrap();
        let intel = turbo("/sys/devices/system/cpu/intel_pstate/no_turbo");
        assert_eq!(intel, ("/sys/devices/system/cpu/intel_pstate/no_turbo".into(), "1".into()));
        let amd = turbo("/sys/devices/system/cpu/cpufreq/policy0/boost");
        assert_eq!(amd, ("/sys/devices/system/cpu/cpufreq/policy[0-9]*/boost".into(), "0".into()));
        let held = Recipe::of("platform.profile", "power-saver", "net.hadess.PowerProfiles HoldProfile").unwrap();
        assert_eq!(held, Recipe::Profile { name: "power-saver".into() });
    }

    #[test]
    fn nothing_of_a_hostile_file_gets_into_a_recipe() {
        let hostile = ["$(reboot)", "a\nb", "'", "`id`", "a;b", "../../etc", "%n", "", "\u{202e}", "*", "a b\t", "[x]"];
        for value in hostile {
            for id in ["cpu.governor", "cpu.deep-idle", "block.scheduler@sda", "cpu.turbo", "nvme.apst@nvme0"] {
                assert_eq!(Recipe::of(id, value, value), Err(NoRecipe::Value), "{id} {value:?}");
            }
            for kind in ["block.scheduler", "pci.runtime-pm", "sata.link-power", "nvme.apst"] {
                assert_eq!(Recipe::of(&format!("{kind}@{value}"), "auto", ""), Err(NoRecipe::Unknown), "{value:?}");
            }
        }
        for value in ["-x", " x", "x ", "#x"] {
            assert_eq!(Recipe::of("cpu.deep-idle", value, ""), Err(NoRecipe::Value), "{value:?}");
        }
        assert_eq!(Recipe::of("cpu.prochot", "on", ""), Err(NoRecipe::Unknown));
    }
}
