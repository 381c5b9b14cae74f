//! A machine as a directory tree.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tests::{Cost, Setting, scratch};

/// Turbo, energy preference and governor of two CPUs.
const FILES: [(&str, &str); 12] = [
    ("proc/sys/kernel/random/boot_id", "6f1c9a3e-0000-4000-8000-000000000000"),
    ("sys/devices/system/cpu/online", "0-1"),
    ("sys/devices/system/cpu/present", "0-1"),
    ("sys/devices/system/cpu/intel_pstate/status", "active"),
    (TURBO, "0"),
    ("sys/devices/system/cpu/cpu0/power/energy_perf_bias", "6"),
    ("sys/devices/system/cpu/cpu1/power/energy_perf_bias", "6"),
    ("sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0 1"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "intel_pstate"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors", "performance powersave"),
    ("sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference", "balance_performance"),
];
/// 1 while turbo is off.
const TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";

/// The tree, removed on drop.
#[derive(Debug)]
pub(crate) struct Machine(TempDir);

impl Machine {
    pub(crate) fn new() -> Result<Self> {
        let machine = Self(scratch()?);
        for (path, text) in FILES {
            let path = machine.0.path().join(path);
            fs::create_dir_all(path.parent().context("below the tree")?)?;
            fs::write(path, format!("{text}\n"))?;
        }
        Ok(machine)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Half the reads while turbo is off.
    pub(crate) fn cost(&self) -> Cost {
        Cost { setting: Setting { file: self.path().join(TURBO), saving: "1".into() }, slowed: 100, full: 200 }
    }

    /// The first setting that is not as it was found.
    pub(crate) fn changed(&self) -> Option<&'static str> {
        let as_found = |(path, text): &(&str, &str)| {
            fs::read_to_string(self.0.path().join(path)).is_ok_and(|now| now.trim() == *text)
        };
        FILES.iter().find(|file| !as_found(file)).map(|(path, _)| *path)
    }
}
