//! One job at a time, a run or an experiment, and the queue of runs that wait.
//!
//! | module | what |
//! |---|---|
//! | `runs` | runs: started or queued, ended, removed |
//! | `experiments` | experiments: begun, resumed, paused, stopped; they never wait |
//! | `unfinished` | the experiment that goes on when the server comes back |

mod experiments;
mod runs;
mod unfinished;

use crate::experiment::{Limits, Ready, Steering};
use crate::live::Hub;
use crate::lock::Lock;
use crate::runner::{Runner, busy};
use engine::Control;
pub use experiments::Stage;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::run::RunRecord;
pub use runs::Cancelled;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Does one job after another, for as long as it lives.
#[derive(Debug)]
pub struct Scheduler {
    runner: Arc<Runner>,
    hub: Arc<Hub>,
    inner: Mutex<Inner>,
    /// Told when the queue loses a run, a job ends, or the scheduler closes.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// What is on here.
    current: Option<Current>,
    queue: VecDeque<RunRecord>,
    /// Whether a thread is at work that will look at the queue again.
    active: bool,
    worker: Option<JoinHandle<()>>,
    closing: bool,
}

/// What is on, as others see it.
#[derive(Debug)]
enum Current {
    Run(Box<RunRecord>, Control),
    Experiment(experiments::On),
}

/// What is to be done.
#[derive(Debug)]
enum Job {
    Run(Box<RunRecord>, Lock, Control),
    Experiment(Box<Ready>, Limits, Steering),
}

impl Scheduler {
    /// A scheduler without jobs.
    pub fn new(runner: Arc<Runner>, hub: Arc<Hub>) -> Arc<Self> {
        Arc::new(Self { runner, hub, inner: Mutex::default(), changed: Condvar::new() })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something is on, and the number of runs that wait.
    pub fn counts(&self) -> (bool, usize) {
        let inner = self.inner();
        (inner.current.is_some(), inner.queue.len())
    }

    /// Stops what is on, drops the runs that wait, and returns when the last event was published.
    pub fn close(&self) {
        let worker = {
            let mut inner = self.inner();
            inner.closing = true;
            match &inner.current {
                Some(Current::Run(_, control)) => control.stop(),
                Some(Current::Experiment(on)) => on.steering.stop(),
                None => {}
            }
            for record in std::mem::take(&mut inner.queue) {
                if let Err(e) = self.drop_queued(record) {
                    tracing::error!("a queued run could not be marked as stopped: {e}");
                }
            }
            self.changed.notify_all();
            inner.worker.take()
        };
        if worker.is_some_and(|w| w.join().is_err()) {
            tracing::error!("the thread of the run failed");
        }
    }

    /// Starts the thread that does `first`, then runs whatever waits, until nothing does.
    fn work(self: &Arc<Self>, inner: &mut Inner, first: Option<Job>) -> Result<(), ErrorBody> {
        let current = first.as_ref().map(Job::current);
        let this = Arc::clone(self);
        let worker = std::thread::Builder::new().name("runs".into()).spawn(move || {
            crate::cpus::use_all();
            let mut job = first.or_else(|| this.next());
            while let Some(now) = job {
                let more = match now {
                    Job::Run(record, lock, control) => this.execute(*record, lock, &control),
                    Job::Experiment(ready, limits, steering) => this.conduct(*ready, limits, &steering),
                };
                job = if more { this.next() } else { None };
            }
        });
        let failed = |e| ErrorBody::new(ErrorCode::Internal, format!("The thread for the run cannot be started: {e}."));
        inner.worker = Some(worker.map_err(failed)?);
        inner.current = current;
        inner.active = true;
        Ok(())
    }
}

impl Job {
    fn current(&self) -> Current {
        match self {
            Self::Run(record, _, control) => Current::Run(record.clone(), control.clone()),
            Self::Experiment(ready, _, steering) => {
                Current::Experiment(experiments::On::new(ready.record(), steering.clone()))
            }
        }
    }
}

impl Inner {
    /// Why nothing else can begin here, if so.
    fn refuse(&self) -> Option<ErrorBody> {
        if self.closing {
            return Some(ErrorBody::new(ErrorCode::Busy, "The server is stopping."));
        }
        let what = match &self.current {
            _ if !self.active => return None,
            Some(Current::Run(record, _)) => format!("{} on {}", record.spec.title(), record.spec.target),
            Some(Current::Experiment(on)) => format!("the experiment {}", on.what),
            None => "a queued run".into(),
        };
        Some(busy(format!("This server is measuring: {what}.")))
    }

    /// Nothing is on any more; says whether runs wait.
    fn end_current(&mut self) -> bool {
        self.current = None;
        self.active = !self.queue.is_empty();
        self.active
    }
}
