//! What limits the meaning of a step's numbers.

use crate::step::Measured;
use protocol::host::Ceiling;
use protocol::result::{Caveat, CaveatKind, EngineKind, IoPath, IoPathKind};
use protocol::workload::{Wait, Workload};

/// Share of a CPU above which a worker counts as busy all the time.
const CPU_BOUND: f64 = 0.95;
/// Share of the engine's own ceiling above which the tool counts as the limit.
const TOOL_BOUND: f64 = 0.7;
/// Share of the intended rate below which it counts as missed.
const RATE_KEPT: f64 = 0.97;

/// The target is a file with holes.
pub(crate) fn sparse() -> Caveat {
    let message = "Parts of the file were never written (or are compressed): the drive is not asked for those.".into();
    Caveat { kind: CaveatKind::Sparse, message }
}

/// Share of all CPU time, used by others, above which the machine counts as busy.
const OTHERS_BUSY: f64 = 0.25;

/// All that is to be said of this step.
pub(crate) fn of(workload: &Workload, measured: &Measured, path: &IoPath, ceiling: Option<Ceiling>) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let mut say = |kind, message: String| caveats.push(Caveat { kind, message });
    let jobs = f64::from(workload.numjobs);
    let seconds = measured.elapsed_ns as f64 / 1e9;
    let ios: u64 = measured.read.iter().chain(&measured.write).map(|d| d.ios).sum();
    let iops = ios as f64 / seconds.max(1e-9);
    let cpu = (measured.cpu.user_s + measured.cpu.system_s) / (seconds * jobs).max(1e-9);

    if path.kind == IoPathKind::PageCache {
        say(CaveatKind::PageCache, format!("Page cache, not the drive: {}", path.evidence));
    }
    if measured.engine.kind == EngineKind::Threads {
        let why = measured.engine.fallbacks.first().cloned().unwrap_or_default();
        say(CaveatKind::ThreadFallback, format!("{why}. Expect lower numbers at depth and more CPU use."));
    }
    if workload.wait != Wait::Poll && cpu > CPU_BOUND {
        let percent = (cpu * 100.0).min(100.0);
        say(
            CaveatKind::CpuBound,
            format!("The workers used {percent:.0} % of their CPUs: a faster CPU would give more."),
        );
    }
    let ceiling = ceiling.map(|c| if workload.iodepth == 1 { c.depth1.0 } else { c.depth32.0 });
    if let Some(ceiling) = ceiling.filter(|&c| c > 0.0 && iops / jobs > c * TOOL_BOUND) {
        let share = iops / jobs / ceiling * 100.0;
        say(
            CaveatKind::ToolBound,
            format!("{share:.0} % of what the tool itself can do: the tool limits this number."),
        );
    }
    let rate = workload.rate_iops.map(|r| r.0 * jobs);
    if let Some(rate) = rate.filter(|&r| !measured.cut_short && iops < r * RATE_KEPT && r * seconds >= 20.0) {
        let message =
            format!("{iops:.0} of {rate:.0} accesses per second were done: latencies include waiting in line.");
        say(CaveatKind::RateMissed, message);
    }
    if seconds < 1.0 {
        say(CaveatKind::ShortRun, format!("Only {seconds:.2} s were measured: expect a wide spread."));
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    // Interrupts and the kernel's own threads work for the drive too and count as others here.
    let others = measured.cpu.machine.map_or(0.0, |share| share * cpus as f64 - cpu * jobs);
    if others > OTHERS_BUSY * cpus as f64 {
        let percent = others / cpus as f64 * 100.0;
        say(
            CaveatKind::BusyMachine,
            format!("Other programs used {percent:.0} % of the machine's CPU time meanwhile."),
        );
    }
    if workload.numjobs as usize > cpus && cpu * jobs > cpus as f64 * 0.9 {
        say(CaveatKind::MoreJobsThanCpus, format!("{} busy jobs share {cpus} CPUs.", workload.numjobs));
    }
    caveats
}
