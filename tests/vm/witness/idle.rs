//! Idle states: whether the counters of those that are forbidden stand still.

use super::{await_that, cpus};
use crate::settings::{matching, number, text};
use std::collections::BTreeMap;
use std::io::Read;
use std::thread;
use std::time::Duration;

/// `cpu.deep-idle`: no state deeper than the named one is entered, and shallower ones are.
pub(super) fn deepest(name: &str) -> Result<String, String> {
    let latency = states().into_iter().find(|(_, n)| n == name).ok_or("no such idle state")?.0;
    nothing_above(latency)
}

/// `cpu.latency-limit`: the aggregate that the kernel tells, and the counters.
pub(super) fn limit(value: &str) -> Result<String, String> {
    let us: i32 = match value {
        "none" => 2_000_000_000,
        limit => limit.trim_end_matches(" us").parse().map_err(|e| format!("{value}: {e}"))?,
    };
    // A holder that was killed lets go a moment later.
    await_that(|| {
        let mut bytes = [0; 4];
        let read = std::fs::File::open("/dev/cpu_dma_latency").and_then(|mut f| f.read_exact(&mut bytes));
        read.map_err(|e| format!("/dev/cpu_dma_latency: {e}"))?;
        let now = i32::from_ne_bytes(bytes);
        if now == us { Ok(String::new()) } else { Err(format!("/dev/cpu_dma_latency says {now}")) }
    })?;
    nothing_above(u64::try_from(us).unwrap_or(0))
}

/// Latencies and names of the first CPU's states, in the kernel's order.
fn states() -> Vec<(u64, String)> {
    let state = |dir: std::path::PathBuf| Some((number(dir.join("latency"))?, text(dir.join("name"))?));
    matching("/sys/devices/system/cpu/cpu0/cpuidle/state*").into_iter().filter_map(state).collect()
}

fn nothing_above(latency: u64) -> Result<String, String> {
    // A CPU that slept in a deeper state when it was forbidden books it when it wakes: all wake once.
    sleep_and_wake();
    let before = entries();
    sleep_and_wake();
    let mut rises: Vec<(u64, String, u64)> = Vec::new();
    for (state, after) in entries() {
        let rise = after - before.get(&state).copied().unwrap_or(after);
        rises.push((state.0, state.1, rise));
    }
    let said: Vec<String> = rises.iter().map(|(_, name, rise)| format!("{name} +{rise}")).collect();
    let said = said.join(" ");
    let forbidden = rises.iter().any(|(l, _, rise)| *l > latency && *rise > 0);
    let allowed = rises.iter().any(|(l, _, rise)| *l <= latency && *rise > 0);
    if forbidden || !allowed { Err(format!("entries: {said}")) } else { Ok(format!("entries: {said}")) }
}

/// Entries into each state by latency and name, over all CPUs.
fn entries() -> BTreeMap<(u64, String), u64> {
    let mut sums = BTreeMap::new();
    for dir in matching("/sys/devices/system/cpu/cpu*/cpuidle/state*") {
        if let Some(key) = number(dir.join("latency")).zip(text(dir.join("name"))) {
            *sums.entry(key).or_default() += number(dir.join("usage")).unwrap_or(0);
        }
    }
    sums
}

/// Each CPU sleeps and wakes some hundred times, for short and for longer.
fn sleep_and_wake() {
    let sleeper = |cpu: usize| {
        thread::spawn(move || {
            cpus::stay_on(cpu);
            for i in 0..100 {
                thread::sleep(Duration::from_micros(if i % 2 == 0 { 200 } else { 3000 }));
            }
        })
    };
    let sleepers: Vec<_> = cpus::numbers().into_iter().map(sleeper).collect();
    for sleeper in sleepers {
        let _ = sleeper.join();
    }
}
