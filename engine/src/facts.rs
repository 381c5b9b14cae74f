//! What the engine can do on this machine, probed once per start.

use crate::Control;
use crate::clock;
use crate::file::random_data::RandomData;
use crate::loops::buffers::Buffers;
use crate::loops::job::{Job, StepGate};
use crate::loops::offsets::Range;
use crate::loops::ring::{RingJob, Waiting};
use crate::loops::slots::{Operation, Slots};
use crate::loops::uring::RingSupport;
use crate::loops::worker;
use crate::measure::meter::Meter;
use crate::measure::recorder::Tally;
use protocol::host::{Ceiling, EngineFacts};
use protocol::units::{Bytes, BytesPerSecond, Iops, Micros, Seconds};
use protocol::workload::{Rw, Wait, Workload};
use rustix::process::{Resource, getrlimit};
use std::sync::OnceLock;

/// Time of each of the ceiling's measurements.
const LOOK: Seconds = Seconds(Micros(40_000));

/// Probes `io_uring` and measures the engine's own ceiling. Takes about 0.3 s the first time, then is free.
pub fn engine_facts() -> &'static EngineFacts {
    static FACTS: OnceLock<EngineFacts> = OnceLock::new();
    FACTS.get_or_init(|| {
        let support = RingSupport::get();
        let ceiling = std::thread::scope(|scope| scope.spawn(|| measure(support)).join().ok());
        EngineFacts { ceiling, ..probe(support) }
    })
}

fn probe(support: &RingSupport) -> EngineFacts {
    let memlock = getrlimit(Resource::Memlock).current.map(Bytes).filter(|_| !may_lock_all());
    if let Some(reason) = &support.unavailable {
        return EngineFacts { io_uring: false, reason: Some(reason.clone()), memlock, ..EngineFacts::default() };
    }
    let missing = [
        (support.defer_taskrun, "defer-taskrun: needs Linux 6.1"),
        (support.no_sqarray, "no-sqarray: needs Linux 6.6"),
        (support.no_iowait, "wait mode enter-no-iowait: needs Linux 6.15"),
        (support.ext_arg, "timeouts within io_uring_enter: need Linux 5.11"),
    ];
    EngineFacts {
        io_uring: true,
        reason: None,
        features: support.features(),
        missing: missing.into_iter().filter(|(have, _)| !have).map(|(_, what)| what.to_owned()).collect(),
        wait_modes: Wait::ALL.into_iter().filter(|&w| w != Wait::EnterNoIowait || support.no_iowait).collect(),
        memlock,
        ceiling: None,
    }
}

/// Whether the process has `CAP_IPC_LOCK`, for which the limit does not hold. Root has it unless it was taken away.
fn may_lock_all() -> bool {
    const CAP_IPC_LOCK: u32 = 14;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("CapEff:")).map(str::trim);
    mask.and_then(|m| u64::from_str_radix(m, 16).ok()).is_some_and(|m| m >> CAP_IPC_LOCK & 1 == 1)
}

/// On a thread of its own, since it pins itself as workers do.
fn measure(support: &RingSupport) -> Ceiling {
    worker::pin(worker::choose_cpus(&[], 1).first());
    let best = |depth| (0..3).filter_map(|_| nops(depth)).fold(0.0, f64::max);
    let rings = support.unavailable.is_none();
    Ceiling {
        depth1: Iops(if rings { best(1) } else { 0.0 }),
        depth32: Iops(if rings { best(32) } else { 0.0 }),
        fill: BytesPerSecond(fill_rate()),
    }
}

/// No-op requests per second through the measured loop itself.
fn nops(depth: u32) -> Option<f64> {
    let workload = Workload { iodepth: depth, runtime: LOOK, ..Workload::new(Rw::RandRead) };
    let gate = StepGate::new(&workload, &Control::default(), 1);
    let meter = Meter::new();
    meter.adopt();
    let range = Range { start: 0, blocks: 1 << 18 };
    let job = Job { workload: &workload, fd: -1, number: 0, range, gate: &gate, meter: &meter };
    let buffers = Buffers::new(depth as usize, 4096, 0, 0).ok()?;
    let ring = RingJob::new(&job, Slots::new(&job, buffers, Operation::Nop), Waiting::Enter).ok()?;
    gate.arrive();
    ring.run().ok()?;
    let mut tally = Tally::new();
    meter.measured.read.add_to(&mut tally);
    Some(tally.total() as f64 / LOOK.as_f64())
}

/// Bytes of incompressible data per second, from one thread.
fn fill_rate() -> f64 {
    let mut block = vec![0u8; 1 << 20];
    let mut data = RandomData::new(1);
    data.fill(&mut block);
    let start = clock::now();
    let mut bytes = 0;
    while clock::now() - start < 20_000_000 {
        data.fill(std::hint::black_box(&mut block));
        bytes += block.len();
    }
    bytes as f64 * 1e9 / (clock::now() - start) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_agree_with_themselves() {
        let facts = engine_facts();
        assert_eq!(facts.io_uring, facts.reason.is_none());
        assert_eq!(facts.io_uring, facts.wait_modes.contains(&Wait::Enter));
        let ceiling = facts.ceiling.unwrap();
        assert!(ceiling.fill.0 > 0.0);
        // A deeper queue shares each system call among more requests.
        assert!(!facts.io_uring || ceiling.depth32 > ceiling.depth1 && ceiling.depth1.0 > 0.0, "{ceiling:?}");
    }
}
