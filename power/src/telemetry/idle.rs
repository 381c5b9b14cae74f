//! Residency in idle states, from `cpuN/cpuidle/stateM/{time,usage}` (admin-guide/pm/cpuidle.rst).
//!
//! `time` is what was asked of the processor; it is booked when a CPU wakes, so that one that sleeps through a sample
//! has nothing in it and more than its length in the next. That is cut to the interval.

use super::kernel_file::{Budget, KernelFile};
use crate::root::Root;
use protocol::telemetry::IdleSample;
use std::collections::HashMap;

/// Idle states of all CPUs and their counters.
#[derive(Debug, Default)]
pub(super) struct Idle {
    /// Shallowest first. The cores of a hybrid processor have states of one name that differ in latency.
    states: Vec<(u32, String)>,
    counters: Vec<Counter>,
}

/// One state of one CPU.
#[derive(Debug)]
struct Counter {
    cpu: u32,
    /// Index in `states`.
    state: usize,
    time: KernelFile,
    usage: KernelFile,
    /// Microseconds and entries.
    last: (u64, u64),
}

/// Share of the interval in each state, by CPU, in the order of the states.
pub(super) type Shares = HashMap<u32, Vec<f64>>;

impl Idle {
    /// The states of these CPUs. What cannot be read is left out.
    pub(super) fn discover(root: &Root, cpus: &[u32], budget: &mut Budget) -> Self {
        let mut idle = Self::default();
        let mut found = Vec::new();
        for &cpu in cpus {
            let dir = root.dir(&format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle"));
            for state in dir.iter().flat_map(|d| d.numbered("state")) {
                let Some(name) = state.read("name") else { continue };
                let key = (state.parse("latency").unwrap_or(0), name);
                let time = KernelFile::within(&state, "time", budget);
                let usage = KernelFile::within(&state, "usage", budget);
                if let Some((time, usage)) = time.zip(usage)
                    && let Some(last) = time.number().zip(usage.number())
                {
                    if !idle.states.contains(&key) {
                        idle.states.push(key.clone());
                    }
                    found.push((key, Counter { cpu, state: 0, time, usage, last }));
                }
            }
        }
        // Stable, so that states of one latency stay in the kernel's order.
        idle.states.sort_by_key(|(latency, _)| *latency);
        idle.counters = found
            .into_iter()
            .filter_map(|(key, counter)| {
                Some(Counter { state: idle.states.iter().position(|s| *s == key)?, ..counter })
            })
            .collect();
        idle
    }

    /// Since the last call, `seconds` ago. Also says whether all files could be read.
    pub(super) fn sample(&mut self, seconds: f64, online: &[u32]) -> (Vec<IdleSample>, Shares, bool) {
        let mut shares: HashMap<u32, Option<Vec<f64>>> = HashMap::new();
        let mut entries = vec![0; self.states.len()];
        let mut all_read = true;
        for counter in self.counters.iter_mut().filter(|c| online.binary_search(&c.cpu).is_ok()) {
            let of_cpu = shares.entry(counter.cpu).or_insert_with(|| Some(vec![0.0; entries.len()]));
            let now = counter.time.number().zip(counter.usage.number());
            all_read &= now.is_some();
            let passed = now.and_then(|now| counter.passed(now));
            match (of_cpu.as_mut(), passed) {
                (Some(of_cpu), Some((time, usage))) => {
                    if let (Some(share), Some(sum)) = (of_cpu.get_mut(counter.state), entries.get_mut(counter.state)) {
                        *share = (time as f64 / 1e6 / seconds).min(1.0);
                        *sum += usage;
                    }
                }
                // A part of a CPU's states would look as if it had been awake the rest of the time.
                _ => *of_cpu = None,
            }
        }
        let mut shares: Shares = shares.into_iter().filter_map(|(cpu, s)| Some((cpu, s?))).collect();
        for shares in shares.values_mut() {
            cut(shares);
        }
        (self.sum(&shares, &entries, seconds), shares, all_read)
    }

    fn sum(&self, shares: &Shares, entries: &[u64], seconds: f64) -> Vec<IdleSample> {
        if shares.is_empty() {
            return Vec::new();
        }
        let mean = |state: usize| shares.values().filter_map(|s| s.get(state)).sum::<f64>() / shares.len() as f64;
        let of = |(i, ((latency_us, name), entries)): (usize, (&(u32, String), &u64))| IdleSample {
            name: name.clone(),
            latency_us: *latency_us,
            share: mean(i),
            entries: *entries as f64 / seconds,
        };
        self.states.iter().zip(entries).enumerate().map(of).collect()
    }
}

impl Counter {
    /// Microseconds and entries since the last call; `None` if the kernel began to count anew, as it may when a CPU
    /// comes online again.
    fn passed(&mut self, now: (u64, u64)) -> Option<(u64, u64)> {
        let last = std::mem::replace(&mut self.last, now);
        Some((now.0.checked_sub(last.0)?, now.1.checked_sub(last.1)?))
    }
}

/// Sleep that began before the interval is booked in it; all together cannot be more than the whole.
fn cut(shares: &mut [f64]) {
    let sum: f64 = shares.iter().sum();
    if sum > 1.0 {
        for share in shares {
            *share /= sum;
        }
    }
}
