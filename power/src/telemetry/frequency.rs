//! Frequencies, from `scaling_cur_freq` of each policy (admin-guide/pm/cpufreq.rst).

use super::kernel_file::{Budget, KernelFile};
use crate::root::Root;
use std::collections::HashMap;

/// The policies and their CPUs.
#[derive(Debug, Default)]
pub(super) struct Frequency(Vec<(Vec<u32>, KernelFile)>);

impl Frequency {
    pub(super) fn discover(root: &Root, budget: &mut Budget) -> Self {
        let policies = root.dir("/sys/devices/system/cpu/cpufreq").map(|d| d.numbered("policy")).unwrap_or_default();
        let policies = policies.iter().filter_map(|policy| {
            let cpus = policy.read("affected_cpus")?;
            let cpus = cpus.split_ascii_whitespace().filter_map(|cpu| cpu.parse().ok()).collect();
            Some((cpus, KernelFile::within(policy, "scaling_cur_freq", budget)?))
        });
        Self(policies.collect())
    }

    /// MHz now, by CPU. A driver that does not know it says `<unknown>`, and the CPU is left out.
    pub(super) fn sample(&self) -> HashMap<u32, f64> {
        let mhz = |file: &KernelFile| file.number().filter(|khz| *khz > 0).map(|khz| khz as f64 / 1e3);
        let policies = self.0.iter().filter_map(|(cpus, file)| Some((cpus, mhz(file)?)));
        policies.flat_map(|(cpus, mhz)| cpus.iter().map(move |cpu| (*cpu, mhz))).collect()
    }
}
