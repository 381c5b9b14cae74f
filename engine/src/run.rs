//! Running a plan: the target opened, step after step, the target closed.

use crate::caveats;
use crate::clock;
use crate::error::EngineError;
use crate::eta::Eta;
use crate::facts::engine_facts;
use crate::loops::job::Failure;
use crate::loops::worker::Driver;
use crate::step::{self, Measured, StepError};
use crate::target::open::Target;
use crate::target::{self, counters};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::plan::{RunSpec, Step};
use protocol::result::{BlockCounters, IoPath, IoPathKind, StepResult};
use protocol::run::RunId;
use protocol::units::{Bytes, BytesPerSecond};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Time between two words on a pause.
const PAUSE_TOLD_EVERY: Duration = Duration::from_millis(200);

/// Stops a run from outside; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Control(Arc<Stop>);

#[derive(Debug, Default)]
struct Stop {
    stopped: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Control {
    /// Ends the run: within 100 ms plus the device's own latency.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
        let _held = self.0.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.changed.notify_all();
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Waits for `time`, or until stopped.
    pub fn pause(&self, time: Duration) {
        let held = self.0.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.changed.wait_timeout_while(held, time, |()| !self.is_stopped());
        drop(waited);
    }
}

/// What a run needs to know beyond its plan.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Id that the events carry.
    pub run: RunId,
    /// Directory in which files of our own are registered before they are made, so that they can be removed after
    /// a crash (see [`crate::own_file::remove_leftovers`]). Made if absent.
    pub registry: PathBuf,
    /// CPUs near the drive, preferred for pinning; empty when unknown.
    pub near_cpus: Vec<u32>,
}

/// How a run ended, errors apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All steps ran.
    Done,
    /// Stopped through [`Control`]; the results of the steps so far were emitted.
    Stopped,
}

/// Runs the plan to its end, blocking. Emits `Layout`, `Pause`, `WorkloadStarted`, `Sample` and `WorkloadFinished` in
/// order (the caller adds `RunStarted` and `RunFinished`). Files of our own are gone when it returns, whatever
/// happens, unless the plan says `keep_file`.
pub fn run(
    spec: &RunSpec,
    options: &RunOptions,
    control: &Control,
    sink: &mut dyn FnMut(Event),
) -> Result<Outcome, EngineError> {
    let Some(held) = Held::open(spec, options, control, sink)? else { return Ok(Outcome::Stopped) };
    let outcome = held.steps(spec, &held.eta, options, control, sink);
    let closed = held.target.close(spec.keep_file && outcome.is_ok());
    outcome.and_then(|o| closed.map(|()| o))
}

/// A target that stays open over several runs. A file of our own is laid out once, and is gone when this is dropped.
pub struct Held {
    target: Target,
    /// Knows how long the layout took.
    eta: Eta,
}

impl Held {
    /// Opens the target for every step of `spec`, and lays out its file; `None` when stopped meanwhile.
    pub fn open(
        spec: &RunSpec,
        options: &RunOptions,
        control: &Control,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Option<Self>, EngineError> {
        let facts = target::check(spec)?;
        let mut eta = Eta::new(spec);
        let total = spec.file_size().0.next_multiple_of(4096);
        let began = clock::now();
        let mut report = |done: u64, bw: f64| {
            let (progress, eta_ms) = eta.layout(done, total, since_ms(began));
            let (done, total, bw) = (Bytes(done), Bytes(total), BytesPerSecond(bw));
            sink(Event::Layout { run: options.run.clone(), done, total, bw, progress, eta_ms });
        };
        let target = Target::open(spec, &facts, &options.registry, control, &mut report)?;
        Ok(target.map(|target| {
            tracing::debug!(reused = target.reused(), size = target.size, "target open");
            Self { target, eta }
        }))
    }

    /// Runs steps of the plan it was opened for, as [`run`] does.
    pub fn run(
        &self,
        spec: &RunSpec,
        options: &RunOptions,
        control: &Control,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Outcome, EngineError> {
        self.steps(spec, &Eta::new(spec), options, control, sink)
    }

    fn steps(
        &self,
        spec: &RunSpec,
        eta: &Eta,
        options: &RunOptions,
        control: &Control,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Outcome, EngineError> {
        Running { spec, options, control, target: &self.target, eta }.steps(sink)
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("size", &self.target.size).finish_non_exhaustive()
    }
}

fn since_ms(began: u64) -> f64 {
    clock::now().saturating_sub(began) as f64 / 1e6
}

struct Running<'a> {
    spec: &'a RunSpec,
    options: &'a RunOptions,
    control: &'a Control,
    target: &'a Target,
    eta: &'a Eta,
}

impl Running<'_> {
    fn steps(&self, sink: &mut dyn FnMut(Event)) -> Result<Outcome, EngineError> {
        for (index, step) in self.spec.steps.iter().enumerate() {
            self.pause(index, step, sink);
            if self.control.is_stopped() {
                return Ok(Outcome::Stopped);
            }
            self.step(index, step, sink)?;
            if self.control.is_stopped() {
                return Ok(Outcome::Stopped);
            }
        }
        Ok(Outcome::Done)
    }

    /// The idle time before a step, told as it passes.
    fn pause(&self, index: usize, step: &Step, sink: &mut dyn FnMut(Event)) {
        let (began, whole) = (clock::now(), step.pause.0.0 as f64 / 1e3);
        loop {
            let gone = since_ms(began);
            let left_ms = whole - gone;
            if left_ms <= 0.0 || self.control.is_stopped() {
                return;
            }
            let (progress, eta_ms) = self.eta.step(index, gone);
            let (run, step) = (self.options.run.clone(), u32::try_from(index).unwrap_or(u32::MAX));
            sink(Event::Pause { run, step, left_ms, progress, eta_ms });
            self.control.pause(PAUSE_TOLD_EVERY.min(Duration::from_secs_f64(left_ms / 1e3)));
        }
    }

    fn step(&self, index: usize, step: &Step, sink: &mut dyn FnMut(Event)) -> Result<(), EngineError> {
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        let run = &self.options.run;
        let workload = &step.workload;
        let size = workload.size.map_or(self.target.size.saturating_sub(workload.offset.0), |s| s.0);
        sink(Event::WorkloadStarted { run: run.clone(), step: number, label: workload.label() });
        if workload.invalidate {
            self.target.invalidate(workload.offset.0, size);
        }
        let before = self.target.dev.and_then(counters::read);
        let (began, mut looked) = (clock::now(), 0);
        let (driver, fallback) = Driver::choose(workload.wait);
        let pause_ms = step.pause.0.0 as f64 / 1e3;
        let measured = step::run(
            &step::Step {
                workload,
                fd: self.target.fd(workload.buffered),
                size,
                control: self.control,
                near_cpus: &self.options.near_cpus,
                driver,
                fallback,
            },
            &mut |mut sample| {
                sample.step = number;
                (sample.progress, sample.eta_ms) = self.eta.step(index, pause_ms + since_ms(began));
                sink(Event::Sample { run: run.clone(), sample: Box::new(sample) });
                looked += 1;
                // Once a second is enough to notice that somebody removed the file.
                if looked % 20 == 0 { self.target.still_there() } else { Ok(()) }
            },
        );
        let after = self.target.dev.and_then(counters::read);
        let counted = after.zip(before).map(|(after, before)| counters::since(after, before));
        let path = path(workload.buffered, measured.moved, counted);
        let mut caveats = caveats::of(workload, &measured, &path, engine_facts().ceiling);
        caveats.extend(self.target.sparse().then(caveats::sparse));
        let Measured { elapsed_ns, read, write, cpu, engine, cut_short, end, .. } = measured;
        let result = StepResult { step: number, elapsed_ns, read, write, cpu, engine, path, caveats, cut_short };
        sink(Event::WorkloadFinished { run: run.clone(), result: Box::new(result) });
        match end {
            // Whoever stops a run and clears its directory meant both.
            Ok(()) if self.control.is_stopped() => Ok(()),
            Ok(()) => self.target.still_there().map_err(EngineError::Expected),
            Err(StepError::Observer(error)) => Err(EngineError::Expected(error)),
            Err(StepError::Failure(failure)) => Err(EngineError::Expected(explain(&self.spec.target, &failure))),
        }
    }
}

/// Whether the accesses reached the drive. Others may use the device too, so more may be counted than was asked
/// for, but not less.
fn path(buffered: bool, moved: (u64, u64), counted: Option<BlockCounters>) -> IoPath {
    let (kind, evidence) = match (buffered, counted) {
        (true, _) => (IoPathKind::PageCache, "buffered, as asked for.".into()),
        (false, None) => (
            IoPathKind::Unverified,
            "O_DIRECT was accepted; there is no block device whose counters would prove it.".into(),
        ),
        (false, Some(c)) => {
            let asked = moved.0 + moved.1;
            let reached = c.read_bytes.0.min(moved.0) + c.write_bytes.0.min(moved.1);
            let words = format!("the block layer counted {} of {} asked for.", Bytes(reached), Bytes(asked));
            // A file of our own is whole blocks on one device; only what is asked for at the very end may be missing.
            if reached as f64 >= asked as f64 * 0.98 {
                (IoPathKind::Direct, format!("O_DIRECT; {words}"))
            } else {
                (IoPathKind::PageCache, format!("O_DIRECT was accepted, but {words}"))
            }
        }
    };
    IoPath { kind, evidence, block_layer: counted }
}

fn explain(target: &str, failure: &Failure) -> ErrorBody {
    let error = ErrorBody::new(ErrorCode::RunFailed, format!("The run on {target} failed: {failure}."));
    match failure {
        Failure::Access { source, .. } => match source.raw_os_error() {
            Some(libc::EIO | libc::ENODEV | libc::ENXIO | libc::EREMOTEIO) => {
                error.hint("Look at the kernel log (dmesg): the drive or its link failed, or it was unplugged.")
            }
            Some(libc::ENOSPC) => error.hint("Free some space, or make size smaller."),
            _ => error,
        },
        Failure::EndOfFile { .. } => error.hint("The file or device became smaller meanwhile. Start again."),
        Failure::System { source, .. } if source.raw_os_error() == Some(libc::ENOMEM) => {
            error.hint("Use a smaller iodepth, numjobs or bs, or raise the memory limits.")
        }
        Failure::System { source, .. } if source.raw_os_error() == Some(libc::EMFILE) => {
            error.hint("Raise the limit of open files (ulimit -n), or use fewer jobs.")
        }
        Failure::System { .. } => error,
    }
}
