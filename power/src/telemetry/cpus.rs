//! The CPUs that are online and the files of each, found anew when they change.

use super::frequency::Frequency;
use super::idle::Idle;
use super::kernel_file::{Budget, KernelFile};
use super::throttle::Throttle;
use super::usage::Usage;
use crate::cpulist;
use crate::root::Root;
use protocol::telemetry::{CpuSample, IdleSample};

/// Counters of all CPUs.
#[derive(Debug)]
pub(super) struct Cpus {
    list: Option<KernelFile>,
    /// Ascending.
    online: Vec<u32>,
    policies: Vec<String>,
    idle: Idle,
    frequency: Frequency,
    throttle: Throttle,
    usage: Usage,
    /// CPUs came or went since the files were found.
    changed: bool,
    /// A file could not be read any more.
    broken: bool,
}

/// What the CPUs did in an interval.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) cpus: Vec<CpuSample>,
    pub(super) idle: Vec<IdleSample>,
    pub(super) throttled: Option<u64>,
}

impl Cpus {
    /// Finds everything; counting starts here.
    pub(super) fn discover(root: &Root) -> Self {
        let mut budget = Budget::of_this_process();
        let list = KernelFile::at(root, "/sys/devices/system/cpu/online", &mut budget);
        let online = read(list.as_ref()).unwrap_or_else(|| numbered(root));
        Self {
            usage: Usage::new(root, &mut budget),
            frequency: Frequency::discover(root, &mut budget),
            idle: Idle::discover(root, &online, &mut budget),
            throttle: Throttle::discover(root, &online, &mut budget),
            policies: policies(root),
            list,
            online,
            changed: false,
            broken: false,
        }
    }

    /// Since the last call, `seconds` ago.
    pub(super) fn sample(&mut self, seconds: f64) -> Done {
        let online = read(self.list.as_ref()).unwrap_or_else(|| self.online.clone());
        let (idle, mut shares, all_read) = self.idle.sample(seconds, &online);
        self.broken |= !all_read;
        self.changed |= online != self.online;
        let (used, mhz) = (self.usage.sample(), self.frequency.sample());
        // A recorded tree stands still, which says nothing of how busy it was.
        let alive = shares.values().flatten().any(|share| *share > 0.0);
        let of = |&cpu: &u32| {
            let idle = shares.remove(&cpu).unwrap_or_default();
            let used = used.get(&cpu).copied();
            // Where there is no /proc/stat, time that is not in an idle state is not idle.
            let by_idle = (alive && !idle.is_empty()).then(|| 1.0 - idle.iter().sum::<f64>());
            let busy = used.map(|u| u.busy).or(by_idle);
            let mhz = mhz.get(&cpu).copied();
            let known = busy.is_some() || mhz.is_some();
            let used = used.unwrap_or_default();
            let busy = busy.unwrap_or(0.0);
            known.then_some(CpuSample { cpu, busy, irq: used.irq, softirq: used.softirq, mhz, idle })
        };
        let cpus = online.iter().filter_map(of).collect();
        Done { cpus, idle, throttled: self.throttle.sample() }
    }

    /// Whether CPUs came or went since the files were found.
    pub(super) fn have_changed(&self) -> bool {
        self.changed
    }

    /// Whether files came or went. Takes longer to say.
    pub(super) fn are_stale(&self, root: &Root) -> bool {
        self.broken || self.policies != policies(root)
    }
}

fn read(list: Option<&KernelFile>) -> Option<Vec<u32>> {
    let mut buffer = Vec::new();
    cpulist::parse(list?.text(&mut buffer)?)
}

/// Where there is no list of those online, a CPU is if its own file does not deny it.
fn numbered(root: &Root) -> Vec<u32> {
    let dirs = root.dir("/sys/devices/system/cpu").map(|d| d.numbered("cpu")).unwrap_or_default();
    let online = dirs.iter().filter(|d| d.read("online").as_deref() != Some("0"));
    let mut cpus: Vec<u32> = online.filter_map(|d| d.name().strip_prefix("cpu")?.parse().ok()).collect();
    cpus.sort_unstable();
    cpus
}

fn policies(root: &Root) -> Vec<String> {
    root.dir("/sys/devices/system/cpu/cpufreq").map(|d| d.names()).unwrap_or_default()
}
