//! Thermal throttling, from `cpuN/thermal_throttle/{core,package}_throttle_count`. Intel only.

use super::kernel_file::{Budget, KernelFile};
use crate::root::{Dir, Root};
use std::collections::HashMap;

/// Counters, each once: every CPU of a package repeats that of the package, and threads may repeat that of their core.
#[derive(Debug, Default)]
pub(super) struct Throttle(Vec<Unit>);

/// A core or a package.
#[derive(Debug)]
struct Unit {
    counters: Vec<KernelFile>,
    last: u64,
}

/// Package and core; no core for the package itself.
type Key = (u32, Option<u32>);

impl Throttle {
    pub(super) fn discover(root: &Root, cpus: &[u32], budget: &mut Budget) -> Self {
        let mut units: HashMap<Key, Vec<KernelFile>> = HashMap::new();
        for &cpu in cpus {
            let Some(dir) = root.dir(&format!("/sys/devices/system/cpu/cpu{cpu}")) else { continue };
            let Some(counters) = dir.enter("thermal_throttle") else { continue };
            let (package, core) = place(&dir, cpu);
            for (name, key) in [("core_throttle_count", Some(core)), ("package_throttle_count", None)] {
                if let Some(file) = KernelFile::within(&counters, name, budget) {
                    units.entry((package, key)).or_default().push(file);
                }
            }
        }
        let unit = |counters: Vec<KernelFile>| Unit { last: highest(&counters).unwrap_or(0), counters };
        Self(units.into_values().map(unit).collect())
    }

    /// Events since the last call; `None` where the processor does not count them.
    pub(super) fn sample(&mut self) -> Option<u64> {
        if self.0.is_empty() {
            return None;
        }
        let events = self.0.iter_mut().map(|unit| {
            let now = highest(&unit.counters).unwrap_or(unit.last);
            now.saturating_sub(std::mem::replace(&mut unit.last, now))
        });
        Some(events.sum())
    }
}

/// Package and core of a CPU. Without a topology each is a core of the one package.
fn place(dir: &Dir<'_>, cpu: u32) -> (u32, u32) {
    let id = |name: &str| dir.parse(&format!("topology/{name}"));
    (id("physical_package_id").unwrap_or(0), id("core_id").unwrap_or(cpu))
}

fn highest(counters: &[KernelFile]) -> Option<u64> {
    counters.iter().filter_map(KernelFile::number).max()
}
