//! One worker: a pinned thread with a tokio-uring runtime of its own, on which it runs one job.

use super::buffers::Buffers;
use super::job::{Failure, Job};
use super::ring::{RingJob, Setup, Waiting};
use super::slots::{Operation, Slots};
use super::threads::Cursor;
use super::uring::RingSupport;
use super::{epoll, threads};
use protocol::result::EngineKind;
use protocol::workload::Wait;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How a step's accesses are driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Driver {
    pub(crate) kind: EngineKind,
    pub(crate) wait: Wait,
}

impl Driver {
    /// The driver for this wait mode here, and what had to be given up for it.
    pub(crate) fn choose(wait: Wait) -> (Self, Option<String>) {
        let support = RingSupport::get();
        if let Some(why) = &support.unavailable {
            let driver = Self { kind: EngineKind::Threads, wait };
            return (
                driver,
                Some(format!("io_uring is not available: {why}; driven by threads with pread and pwrite")),
            );
        }
        match wait {
            Wait::Epoll => (Self { kind: EngineKind::TokioUring, wait }, None),
            Wait::EnterNoIowait if !support.no_iowait => {
                let driver = Self { kind: EngineKind::IoUring, wait: Wait::Enter };
                (driver, Some("wait mode enter-no-iowait needs Linux 6.15; waits as `enter` instead".into()))
            }
            _ => (Self { kind: EngineKind::IoUring, wait }, None),
        }
    }

    /// Measuring threads per job.
    pub(crate) fn threads_per_job(self, depth: u32) -> usize {
        if self.kind == EngineKind::Threads { depth as usize } else { 1 }
    }
}

/// CPUs for `count` workers: those near the drive first, CPU 0 (which takes most interrupts) last.
pub(crate) fn choose_cpus(near: &[u32], count: usize) -> Vec<u32> {
    let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
    let mut cpus: Vec<u32> = (0..CpuSet::MAX_CPU as u32).filter(|&c| allowed.is_set(c as usize)).collect();
    cpus.sort_by_key(|&c| (!near.is_empty() && !near.contains(&c), std::cmp::Reverse(c)));
    cpus.iter().copied().cycle().take(if cpus.is_empty() { 0 } else { count }).collect()
}

/// Binds the calling thread to one CPU; where that is not allowed the thread stays free.
pub(crate) fn pin(cpu: Option<&u32>) {
    if let Some(&cpu) = cpu {
        let mut set = CpuSet::new();
        set.set(cpu as usize);
        let _ = sched_setaffinity(None, &set);
    }
    // A sleeping worker is to wake when it asked to, not up to 50 us later (PR_SET_TIMERSLACK takes ns).
    // SAFETY: this prctl takes a number and affects the calling thread only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Runs one job on the calling thread. Always passes the gate, also when setting up failed, so that nobody waits
/// for it in vain.
pub(crate) fn run(job: &Job, driver: Driver) -> Setup {
    job.meter.adopt();
    let (setup, outcome) = match prepare(job, driver) {
        Ok(ready) => ready.run(job),
        Err(failure) => {
            job.gate.fail(failure);
            job.gate.start();
            return Setup::default();
        }
    };
    if let Err(failure) = outcome {
        job.gate.fail(failure);
    }
    setup
}

/// Runs one thread of a job without `io_uring`.
pub(crate) fn run_thread(job: &Job, cursor: &Cursor, slot: u32) {
    job.meter.adopt();
    if let Err(failure) = threads::run(job, cursor, slot) {
        job.gate.fail(failure);
    }
    job.meter.cpu_ends();
}

/// Everything that takes time or may fail, before the common start.
struct Ready {
    runtime: tokio_uring::Runtime,
    buffers: Buffers,
    driver: Driver,
}

fn prepare(job: &Job, driver: Driver) -> Result<Ready, Failure> {
    let system = |what| move |source| Failure::System { what, source };
    let depth = job.depth();
    let seed = job.workload.randseed ^ (u64::from(job.number) << 32);
    let writers = if job.workload.rw.writes() { job.workload.numjobs as usize } else { 0 };
    let buffers = Buffers::new(depth, job.bs() as usize, writers, seed).map_err(system("allocate buffers"))?;
    let entries = if driver.kind == EngineKind::TokioUring { depth.max(8) as u32 } else { 8 };
    let runtime = tokio_uring::Runtime::new(tokio_uring::builder().entries(entries))
        .map_err(system("start a tokio-uring runtime"))?;
    Ok(Ready { runtime, buffers, driver })
}

impl Ready {
    fn run(self, job: &Job) -> (Setup, Result<(), Failure>) {
        let Self { runtime, buffers, driver } = self;
        let waiting = match driver.wait {
            Wait::Epoll => {
                let ran = runtime.block_on(epoll::run(job, buffers));
                job.meter.cpu_ends();
                return ran;
            }
            Wait::EnterNoIowait => Waiting::EnterNoIowait,
            Wait::Enter => Waiting::Enter,
            Wait::Poll => Waiting::Poll,
        };
        runtime.block_on(async {
            match RingJob::new(job, Slots::new(job, buffers, Operation::Access), waiting) {
                Ok(mut ring) => {
                    let setup = std::mem::take(&mut ring.setup);
                    (setup, ring.run())
                }
                Err(failure) => {
                    job.gate.stop_others();
                    job.gate.start();
                    (Setup::default(), Err(failure))
                }
            }
        })
    }
}
