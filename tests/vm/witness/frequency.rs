//! Frequencies: what CPUs run at under load.

use super::{all_are, await_that, cpus};
use crate::settings::{matching, number, text};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

const POLICIES: &str = "/sys/devices/system/cpu/cpufreq/policy*";

/// All CPUs busy, until it is dropped.
struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = |cpu: usize| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                cpus::stay_on(cpu);
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = cpus::numbers().into_iter().map(spin).collect();
        Self { stop, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Whether the driver chooses frequencies by itself, so that a governor is only a hint.
fn is_autonomous() -> bool {
    let driver = matching(POLICIES).first().and_then(|p| text(p.join("scaling_driver"))).unwrap_or_default();
    driver.ends_with("-epp") || driver == "intel_pstate"
}

/// Whether the governor leaves no choice of an energy preference.
pub(super) fn has_fixed_preference() -> bool {
    is_autonomous()
        && matching("/sys/devices/system/cpu/cpufreq/policy*/scaling_governor")
            .iter()
            .any(|p| text(p).as_deref() == Some("performance"))
}

/// Whether each policy is where it should be, after a while.
fn each(good: impl Fn(&Path, u64) -> bool) -> Result<String, String> {
    let policies: Vec<PathBuf> = matching(POLICIES);
    await_that(|| {
        let now: Vec<_> = policies.iter().map(|p| number(p.join("scaling_cur_freq")).unwrap_or(0)).collect();
        let all = !now.is_empty() && policies.iter().zip(&now).all(|(p, khz)| good(p, *khz));
        let said = now.iter().map(|khz| format!("{} MHz", khz / 1000)).collect::<Vec<_>>().join(", ");
        if all { Ok(said) } else { Err(said) }
    })
}

fn limit(policy: &Path, name: &str) -> u64 {
    number(policy.join(name)).unwrap_or(0)
}

/// `cpu.governor`: under load, `performance` is at the top, `powersave` at the bottom, the others leave the bottom.
pub(super) fn governor(value: &str) -> Result<String, String> {
    all_are("/sys/devices/system/cpu/cpufreq/policy*/scaling_governor", value)?;
    if is_autonomous() {
        let choices = matching("/sys/devices/system/cpu/cpufreq/policy*/energy_performance_available_preferences");
        let only = choices.iter().all(|p| text(p).as_deref() == Some("performance"));
        let said = format!("energy preferences are {}", if only { "fixed" } else { "free" });
        return if only == (value == "performance") { Ok(said) } else { Err(said) };
    }
    let _load = Load::start();
    match value {
        "performance" => each(|p, khz| khz == limit(p, "scaling_max_freq")),
        "powersave" => each(|p, khz| khz == limit(p, "scaling_min_freq")),
        "userspace" => all_parse(),
        _ => each(|p, khz| khz > limit(p, "scaling_min_freq")),
    }
}

/// With `userspace`, a speed can be set, which is none of our business; otherwise the file says `<unsupported>`.
fn all_parse() -> Result<String, String> {
    let speeds = matching("/sys/devices/system/cpu/cpufreq/policy*/scaling_setspeed");
    let all = speeds.iter().all(|p| number(p).is_some());
    if all { Ok("a speed can be set".into()) } else { Err("no speed can be set".into()) }
}

/// `cpu.turbo`: whether the highest frequency in force is one of the boosted ones.
pub(super) fn turbo(value: &str) -> Result<String, String> {
    let policies = matching(POLICIES);
    let boosted = |p: &PathBuf| {
        let boost = text(p.join("scaling_boost_frequencies")).unwrap_or_default();
        let most = text(p.join("scaling_max_freq")).unwrap_or_default();
        (!boost.is_empty()).then(|| boost.split(' ').any(|f| f == most))
    };
    let known: Vec<bool> = policies.iter().filter_map(boosted).collect();
    let wanted = if value == "on" { "1" } else { "0" };
    if known.is_empty() {
        return all_are("/sys/devices/system/cpu/cpufreq/boost", wanted);
    }
    let good = known.iter().all(|b| *b == (value == "on"));
    let _load = Load::start();
    let said = each(|p, khz| khz <= limit(p, "scaling_max_freq"))?;
    let said = format!("limits are {}boosted; {said}", if good == (value == "on") { "" } else { "not " });
    if good { Ok(said) } else { Err(said) }
}

/// `cpu.frequency-floor`: idle CPUs stay at or above it.
pub(super) fn floor(value: &str) -> Result<String, String> {
    let wanted = |p: &Path| match value {
        "lowest" => limit(p, "cpuinfo_min_freq"),
        "base" => limit(p, "base_frequency"),
        _ => limit(p, "scaling_max_freq"),
    };
    each(|p, khz| limit(p, "scaling_min_freq") == wanted(p) && (is_autonomous() || khz >= wanted(p)))
}
