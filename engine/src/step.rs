//! One step: its jobs from the common start to the last completion.

use crate::Control;
use crate::clock;
use crate::loops::job::{Failure, Job, StepGate};
use crate::loops::offsets::split;
use crate::loops::ring::Setup;
use crate::loops::threads::Cursor;
use crate::loops::worker::{self, Driver};
use crate::measure::cpu::{MachineCpu, ThreadCpu};
use crate::measure::meter::{Flows, Meter};
use crate::measure::recorder::Tally;
use crate::measure::sampler::Sampler;
use crate::measure::summary;
use protocol::error::ErrorBody;
use protocol::result::{CpuTime, Direction, EngineKind, EngineUsed};
use protocol::sample::Sample;
use protocol::workload::Workload;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// What to run.
pub(crate) struct Step<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) fd: BorrowedFd<'a>,
    /// Bytes to access from the workload's offset.
    pub(crate) size: u64,
    pub(crate) control: &'a Control,
    pub(crate) near_cpus: &'a [u32],
}

/// What came of it.
pub(crate) struct Measured {
    pub(crate) elapsed_ns: u64,
    pub(crate) read: Option<Direction>,
    pub(crate) write: Option<Direction>,
    pub(crate) cpu: CpuTime,
    pub(crate) engine: EngineUsed,
    /// Ended before its time.
    pub(crate) cut_short: bool,
    pub(crate) end: Result<(), StepError>,
    /// Bytes read and written in all, ramp included.
    pub(crate) moved: (u64, u64),
}

/// Why a step ended early, other than by the user's wish.
pub(crate) enum StepError {
    Failure(Failure),
    Observer(ErrorBody),
}

/// Runs the step; `observe` gets every sample and may end it.
pub(crate) fn run(step: &Step, observe: &mut dyn FnMut(Sample) -> Result<(), ErrorBody>) -> Measured {
    let workload = step.workload;
    let (driver, fallback) = Driver::choose(workload.wait);
    let ranges = split(workload.offset.0, step.size, workload.bs.0, workload.numjobs);
    let per_job = driver.threads_per_job(workload.iodepth);
    let gate = StepGate::new(workload, step.control, per_job * ranges.len());
    let meters: Vec<Meter> = (0..per_job * ranges.len()).map(|_| Meter::new()).collect();
    let cpus = worker::choose_cpus(step.near_cpus, ranges.len());
    let jobs: Vec<Job> = ranges
        .iter()
        .zip(0..)
        .zip(meters.chunks(per_job))
        .flat_map(|((&range, number), meters)| {
            let fd = step.fd.as_raw_fd();
            let gate = &gate;
            meters.iter().map(move |meter| Job { workload, fd, number, range, gate, meter })
        })
        .collect();
    let cursors: Vec<Cursor> = jobs.iter().step_by(per_job).map(Cursor::new).collect();
    let setup = Mutex::new(Setup::default());
    let (alive, ended) = mpsc::channel::<()>();
    let mut observed = Ok(());
    let (start, machine) = std::thread::scope(|scope| {
        for (index, job) in jobs.iter().enumerate() {
            let (alive, cpu, setup) = (alive.clone(), cpus.get(index / per_job), &setup);
            let (cursor, slot) = (cursors.get(index / per_job), (index % per_job) as u32);
            let run = move || {
                worker::pin(cpu);
                if let (EngineKind::Threads, Some(cursor)) = (driver.kind, cursor) {
                    worker::run_thread(job, cursor, slot);
                } else {
                    let used = worker::run(job, driver);
                    if index == 0 {
                        *setup.lock().unwrap_or_else(PoisonError::into_inner) = used;
                    }
                }
                drop(alive);
            };
            let spawned = std::thread::Builder::new().name(format!("job-{}", job.number)).spawn_scoped(scope, run);
            if let Err(source) = spawned {
                gate.fail(Failure::System { what: "start a thread", source });
                gate.arrive();
            }
        }
        drop(alive);
        let start = gate.start();
        let machine = MachineCpu::now();
        let mut sampler = Sampler::new(&meters, workload.bs.0, start, gate.ramp_end(start), gate.end(start));
        loop {
            let wait = sampler.due().saturating_sub(clock::now());
            let over = match ended.recv_timeout(Duration::from_nanos(wait)) {
                Err(RecvTimeoutError::Timeout) => false,
                Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
            };
            if observed.is_ok() {
                observed = observe(sampler.look(clock::now())).inspect_err(|_| gate.stop_others());
            }
            if over {
                break;
            }
        }
        (start, machine)
    });
    let setup = setup.into_inner().unwrap_or_else(PoisonError::into_inner);
    let totals = Totals::of(&meters);
    let (ramp_end, end) = (gate.ramp_end(start), gate.end(start));
    let last = meters.iter().map(|m| m.last.load(Relaxed)).max().unwrap_or(0);
    let failure = gate.take_failure();
    let cut_short = failure.is_some() || observed.is_err() || step.control.is_stopped() && clock::now() < end;
    let elapsed_ns = if cut_short { last } else { last.max(end) }.saturating_sub(ramp_end);
    let cpu = meters.iter().map(Meter::cpu).fold(ThreadCpu::default(), ThreadCpu::plus);
    let measured_ios = totals.measured.read.total() + totals.measured.write.total();
    Measured {
        elapsed_ns,
        read: summary::direction(&totals.measured.read, &totals.measured.read_clat, workload.bs.0, elapsed_ns),
        write: summary::direction(&totals.measured.write, &totals.measured.write_clat, workload.bs.0, elapsed_ns),
        cpu: CpuTime {
            user_s: cpu.user_us as f64 / 1e6,
            system_s: cpu.system_us as f64 / 1e6,
            context_switches: cpu.switches,
            machine: machine.and_then(|before| MachineCpu::now()?.busy_since(before)),
            per_io_ns: (cpu.user_us + cpu.system_us) as f64 * 1e3 / measured_ios.max(1) as f64,
        },
        engine: EngineUsed {
            kind: driver.kind,
            features: setup.features,
            fallbacks: fallback.into_iter().chain(setup.fallbacks).collect(),
            cpus,
        },
        cut_short,
        end: match (failure, observed) {
            (Some(failure), _) => Err(StepError::Failure(failure)),
            (None, Err(error)) => Err(StepError::Observer(error)),
            (None, Ok(())) => Ok(()),
        },
        moved: totals.moved(workload.bs.0),
    }
}

/// Tallies of all meters.
struct Totals {
    ramp: FlowTallies,
    measured: FlowTallies,
}

struct FlowTallies {
    read: Tally,
    write: Tally,
    read_clat: Tally,
    write_clat: Tally,
}

impl FlowTallies {
    fn of(meters: &[Meter], flows: impl Fn(&Meter) -> &Flows) -> Self {
        let mut all =
            Self { read: Tally::new(), write: Tally::new(), read_clat: Tally::new(), write_clat: Tally::new() };
        for flows in meters.iter().map(flows) {
            flows.read.add_to(&mut all.read);
            flows.write.add_to(&mut all.write);
            flows.read_clat.add_to(&mut all.read_clat);
            flows.write_clat.add_to(&mut all.write_clat);
        }
        all
    }
}

impl Totals {
    fn of(meters: &[Meter]) -> Self {
        Self { ramp: FlowTallies::of(meters, |m| &m.ramp), measured: FlowTallies::of(meters, |m| &m.measured) }
    }

    fn moved(&self, bs: u64) -> (u64, u64) {
        let (ramp, measured) = (&self.ramp, &self.measured);
        ((ramp.read.total() + measured.read.total()) * bs, (ramp.write.total() + measured.write.total()) * bs)
    }
}
