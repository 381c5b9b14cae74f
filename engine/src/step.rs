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
    pub(crate) driver: Driver,
    /// Why the driver is not the one asked for.
    pub(crate) fallback: Option<String>,
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
    let driver = step.driver;
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
                if observed.is_ok() && sampler.ramp_just_ended() {
                    observed = observe(sampler.look(clock::now()));
                }
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
            fallbacks: step.fallback.iter().cloned().chain(setup.fallbacks).collect(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::units::{Bytes, Iops, Micros, Seconds};
    use protocol::workload::{Rw, Wait};
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsFd;

    const SIZE: u64 = 4 << 20;

    fn file() -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; SIZE as usize]).unwrap();
        file
    }

    fn workload(rw: Rw) -> Workload {
        Workload {
            buffered: true,
            invalidate: false,
            iodepth: 4,
            runtime: Seconds(Micros(150_000)),
            ..Workload::new(rw)
        }
    }

    fn measure(workload: &Workload, driver: Driver, control: &Control) -> (Measured, Vec<Sample>) {
        let file = file();
        let mut samples = Vec::new();
        let step = Step { workload, fd: file.as_fd(), size: SIZE, control, near_cpus: &[], driver, fallback: None };
        let measured = run(&step, &mut |sample| {
            samples.push(sample);
            Ok(())
        });
        (measured, samples)
    }

    fn drivers() -> Vec<Driver> {
        let threads = Driver { kind: EngineKind::Threads, wait: Wait::Enter };
        Wait::ALL.into_iter().map(|w| Driver::choose(w).0).chain([threads]).collect()
    }

    #[test]
    fn every_driver_measures_and_its_samples_add_up() {
        for driver in drivers() {
            for rw in [Rw::RandRead, Rw::Write, Rw::RandRw] {
                let w = Workload { numjobs: 2, ramp_time: Seconds(Micros(60_000)), ..workload(rw) };
                let (m, samples) = measure(&w, driver, &Control::default());
                assert!(m.end.is_ok(), "{driver:?}");
                assert!(m.elapsed_ns >= 150_000_000, "{driver:?} {}", m.elapsed_ns);
                assert_eq!((m.read.is_some(), m.write.is_some()), (rw.reads(), rw.writes()), "{driver:?}");
                let sampled = |phase| -> u64 {
                    let of = samples.iter().filter(|s| s.phase == phase);
                    of.map(|s| s.read.ios + s.write.ios).sum()
                };
                let ios: u64 = m.read.iter().chain(&m.write).map(|d| d.ios).sum();
                assert_eq!(sampled(protocol::sample::Phase::Measure), ios, "{driver:?}");
                // What completed just before the ramp's end may be booked just after its last sample: it is in the
                // bytes moved, and nowhere else.
                let all = ios + sampled(protocol::sample::Phase::Ramp);
                assert!(m.moved.0 + m.moved.1 >= all * 4096, "{driver:?}");
                assert!(m.cpu.user_s + m.cpu.system_s > 0.0, "{driver:?}");
            }
        }
    }

    #[test]
    fn an_open_loop_keeps_its_rate_whatever_the_driver() {
        for driver in drivers() {
            for rate_process in [protocol::workload::RateProcess::Linear, protocol::workload::RateProcess::Poisson] {
                let w = Workload { rate_iops: Some(Iops(2000.0)), rate_process, ..workload(Rw::RandRead) };
                let (m, _) = measure(&w, driver, &Control::default());
                let d = m.read.unwrap();
                // 300 are intended; a Poisson process has a standard deviation of 17.
                assert!((190..=400).contains(&d.ios), "{driver:?} {}", d.ios);
                assert!(d.clat.unwrap().mean_ns <= d.lat.mean_ns, "{driver:?}");
            }
        }
    }

    #[test]
    fn think_time_spaces_the_accesses_of_a_slot() {
        for driver in drivers() {
            let w = Workload { thinktime: Micros(10_000), iodepth: 2, ..workload(Rw::RandRead) };
            let ios = measure(&w, driver, &Control::default()).0.read.unwrap().ios;
            // 2 slots, 150 ms, at least 10 ms each.
            assert!((8..=32).contains(&ios), "{driver:?} {ios}");
        }
    }

    #[test]
    fn a_stop_ends_every_driver_at_once() {
        for driver in drivers() {
            for thinktime in [Micros(0), Micros(3_600_000_000)] {
                let w = Workload { thinktime, runtime: Seconds::from_secs(600), ..workload(Rw::RandRead) };
                let control = Control::default();
                let (m, took) = std::thread::scope(|scope| {
                    let running = scope.spawn(|| (measure(&w, driver, &control).0, clock::now()));
                    std::thread::sleep(Duration::from_millis(120));
                    let asked = clock::now();
                    control.stop();
                    let (m, ended) = running.join().unwrap();
                    (m, ended - asked)
                });
                assert!(m.cut_short && m.end.is_ok());
                assert!(took < 5_000_000_000, "{driver:?}: {took} ns");
            }
        }
    }

    #[test]
    fn reading_behind_the_end_fails_with_the_offset() {
        for driver in drivers() {
            let w = Workload { offset: Bytes(SIZE), ..workload(Rw::Read) };
            let Err(StepError::Failure(failure)) = measure(&w, driver, &Control::default()).0.end else {
                panic!("{driver:?} read what is not there");
            };
            assert!(failure.to_string().contains(&SIZE.to_string()), "{failure}");
        }
    }

    #[test]
    fn writing_to_what_is_open_for_reading_fails_with_the_cause() {
        for driver in drivers() {
            let (path, w) = (tempfile::NamedTempFile::new().unwrap(), workload(Rw::Write));
            let file = File::open(path.path()).unwrap();
            let control = Control::default();
            let step = Step {
                workload: &w,
                fd: file.as_fd(),
                size: SIZE,
                control: &control,
                near_cpus: &[],
                driver,
                fallback: None,
            };
            let Err(StepError::Failure(failure)) = run(&step, &mut |_| Ok(())).end else { panic!("{driver:?} wrote") };
            assert!(failure.to_string().contains("Bad file descriptor"), "{failure}");
        }
    }
}
