//! One run at a time, and the queue of those that wait.

use crate::live::Hub;
use crate::lock::Lock;
use crate::runner::{Runner, busy, now};
use engine::Control;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::run::{RunId, RunRecord, RunState, RunSummary};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// While another process measures, its lock is tried again this often.
const RETRY: Duration = Duration::from_millis(200);

/// Runs plans one after another, for as long as it lives.
#[derive(Debug)]
pub struct Scheduler {
    runner: Arc<Runner>,
    hub: Arc<Hub>,
    inner: Mutex<Inner>,
    /// Told when the queue loses a run or the scheduler closes.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// The run that is on here.
    current: Option<(RunRecord, Control)>,
    queue: VecDeque<RunRecord>,
    /// Whether a thread is at work that will look at the queue again.
    active: bool,
    worker: Option<JoinHandle<()>>,
    closing: bool,
}

/// What became of a request to end a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// It is on and will stop.
    Stopping,
    /// It waited and no longer does.
    Dequeued,
    /// It is not one of ours.
    Unknown,
}

impl Scheduler {
    /// A scheduler without runs.
    pub fn new(runner: Arc<Runner>, hub: Arc<Hub>) -> Arc<Self> {
        Arc::new(Self { runner, hub, inner: Mutex::default(), changed: Condvar::new() })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a prepared run, or lets it wait if it may. Else says who runs.
    pub fn submit(self: &Arc<Self>, record: RunRecord, may_wait: bool) -> Result<RunState, ErrorBody> {
        let mut inner = self.inner();
        if inner.closing {
            return Err(ErrorBody::new(ErrorCode::Busy, "The server is stopping."));
        }
        let refused = if inner.active {
            let current = inner.current.as_ref().map(|(r, _)| format!("{} on {}", r.spec.title(), r.spec.target));
            busy(format!("This server is measuring: {}.", current.unwrap_or_else(|| "a queued run".into())))
        } else {
            match self.runner.lock(&record) {
                Ok(lock) => {
                    self.work(&mut inner, Some((record, lock)))?;
                    return Ok(RunState::Running);
                }
                Err(e) => e,
            }
        };
        if refused.code != ErrorCode::Busy || !may_wait {
            return Err(refused);
        }
        self.runner.store().begin(&record)?;
        inner.queue.push_back(record);
        if !inner.active {
            self.work(&mut inner, None)?;
        }
        self.publish_queue(&inner, None);
        Ok(RunState::Queued)
    }

    /// Ends a run of ours: stops it if it is on, takes it from the queue if it waits.
    pub fn cancel(&self, run: &str) -> Result<Cancelled, ErrorBody> {
        let mut inner = self.inner();
        if let Some((record, control)) = &inner.current
            && record.id == run
        {
            control.stop();
            return Ok(Cancelled::Stopping);
        }
        let Some(place) = inner.queue.iter().position(|r| r.id == run) else { return Ok(Cancelled::Unknown) };
        if let Some(record) = inner.queue.remove(place) {
            self.drop_queued(record)?;
        }
        self.changed.notify_all();
        self.publish_queue(&inner, None);
        Ok(Cancelled::Dequeued)
    }

    /// Tells viewers that a stored run was removed.
    pub fn removed(&self, run: &RunId) {
        self.publish_queue(&self.inner(), Some(run.clone()));
    }

    /// Ids of the run that is on and of those that wait.
    pub fn counts(&self) -> (bool, usize) {
        let inner = self.inner();
        (inner.current.is_some(), inner.queue.len())
    }

    /// Stops the run that is on, drops those that wait, and returns when the last event was published.
    pub fn close(&self) {
        let worker = {
            let mut inner = self.inner();
            inner.closing = true;
            if let Some((_, control)) = &inner.current {
                control.stop();
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

    fn drop_queued(&self, record: RunRecord) -> Result<(), ErrorBody> {
        let ended = RunRecord { state: RunState::Stopped, finished_at: Some(now()), ..record };
        Ok(self.runner.store().finish(&ended)?)
    }

    fn publish_queue(&self, inner: &Inner, removed: Option<RunId>) {
        let queue: Vec<RunSummary> = inner.queue.iter().map(RunRecord::summary).collect();
        self.hub.publish(&Event::Runs { queue, removed });
    }

    /// Starts the thread that runs `first`, then whatever waits, until nothing does.
    fn work(self: &Arc<Self>, inner: &mut Inner, first: Option<(RunRecord, Lock)>) -> Result<(), ErrorBody> {
        let control = Control::default();
        let current = first.as_ref().map(|(record, _)| (record.clone(), control.clone()));
        let this = Arc::clone(self);
        let worker = std::thread::Builder::new().name("runs".into()).spawn(move || {
            let mut job = first.map(|(record, lock)| (record, lock, control)).or_else(|| this.next());
            while let Some((record, lock, control)) = job {
                job = if this.execute(record, lock, &control) { this.next() } else { None };
            }
        });
        let failed = |e| ErrorBody::new(ErrorCode::Internal, format!("The thread for the run cannot be started: {e}."));
        inner.worker = Some(worker.map_err(failed)?);
        inner.current = current;
        inner.active = true;
        Ok(())
    }

    /// Waits until the first of the queue may run. `None` when nothing waits any more; the thread then ends.
    fn next(&self) -> Option<(RunRecord, Lock, Control)> {
        let mut inner = self.inner();
        let (mut record, lock, control) = loop {
            let Some(first) = inner.queue.front() else {
                inner.active = false;
                return None;
            };
            match self.runner.lock(first) {
                Ok(lock) => {
                    let record = inner.queue.pop_front()?;
                    let control = Control::default();
                    inner.current = Some((record.clone(), control.clone()));
                    self.publish_queue(&inner, None);
                    break (record, lock, control);
                }
                Err(e) => {
                    if e.code != ErrorCode::Busy {
                        tracing::error!("{e}");
                    }
                    inner = self.changed.wait_timeout(inner, RETRY).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        };
        drop(inner);
        self.runner.refresh(&mut record);
        Some((record, lock, control))
    }

    /// Runs it to its end; says whether others wait.
    fn execute(&self, record: RunRecord, lock: Lock, control: &Control) -> bool {
        let run = record.id.clone();
        let mut more = None;
        let result = self.runner.execute(record, lock, control, |event| {
            if matches!(event, Event::RunFinished { .. }) {
                // Whoever sees the end may start the next run at once, but its start must not be seen before this end.
                let mut inner = self.inner();
                more = Some(inner.end_current());
                self.hub.publish(&event);
            } else {
                self.hub.publish(&event);
            }
        });
        if let Err(error) = result {
            tracing::error!("run {run} could not begin: {error}");
            self.hub.publish(&Event::Error { error });
        }
        more.unwrap_or_else(|| self.inner().end_current())
    }
}

impl Inner {
    /// Nothing is on any more; says whether others wait.
    fn end_current(&mut self) -> bool {
        self.current = None;
        self.active = !self.queue.is_empty();
        self.active
    }
}
