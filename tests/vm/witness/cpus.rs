//! CPUs: which the scheduler has.

use super::await_that;
use crate::settings::text;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Numbers of the CPUs that have a line in `/proc/stat`: those online.
pub(super) fn numbers() -> Vec<usize> {
    let stat = text("/proc/stat").unwrap_or_default();
    let cpus = stat.lines().filter_map(|l| l.strip_prefix("cpu")?.split(' ').next()?.parse().ok());
    cpus.collect()
}

/// Confines this thread to a CPU; where it is gone, the thread runs elsewhere.
pub(super) fn stay_on(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    let _ = sched_setaffinity(None, &set);
}

/// `cpu.cores`: how many there are.
pub(super) fn online(value: &str) -> Result<String, String> {
    await_that(|| {
        let (now, present) = (numbers().len(), count("/sys/devices/system/cpu/present"));
        let wanted = if value == "all" { present } else { value.parse().unwrap_or(0) };
        if now == wanted { Ok(format!("{now} CPUs run")) } else { Err(format!("{now} CPUs run, not {wanted}")) }
    })
}

/// `cpu.smt`: whether a core has more than one thread that runs.
pub(super) fn threads(value: &str) -> Result<String, String> {
    await_that(|| {
        let active = text("/sys/devices/system/cpu/smt/active").unwrap_or_default();
        let runs = numbers().len();
        let all = count("/sys/devices/system/cpu/present");
        let good = if value == "on" { active == "1" && runs == all } else { active == "0" && runs < all };
        let said = format!("active {active}, {runs} of {all} CPUs run");
        if good { Ok(said) } else { Err(said) }
    })
}

/// How many CPUs a list like `0-3` has.
fn count(path: &str) -> usize {
    let list = text(path).unwrap_or_default();
    let number = |n: &str| n.parse::<usize>().unwrap_or(0);
    list.split(',').map(|part| part.split_once('-').map_or(1, |(a, b)| number(b) + 1 - number(a))).sum()
}
