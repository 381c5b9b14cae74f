//! Runs, and those of them that wait.

use super::{Current, Inner, Job, Scheduler};
use crate::lock::Lock;
use crate::runner::now;
use engine::Control;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::run::{RunId, RunRecord, RunState, RunSummary};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// While another process measures, its lock is tried again this often.
const RETRY: Duration = Duration::from_millis(200);

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
    /// Starts a prepared run, or lets it wait if it may. Else says who runs.
    pub fn submit(self: &Arc<Self>, record: RunRecord, may_wait: bool) -> Result<RunState, ErrorBody> {
        let mut inner = self.inner();
        let refused = match inner.refuse() {
            Some(refused) => refused,
            None => match self.runner.lock(&record) {
                Ok(lock) => {
                    self.work(&mut inner, Some(Job::Run(Box::new(record), lock, Control::default())))?;
                    return Ok(RunState::Running);
                }
                Err(e) => e,
            },
        };
        if refused.code != ErrorCode::Busy || !may_wait || inner.closing {
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
        if let Some(Current::Run(record, control)) = &inner.current
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

    pub(super) fn drop_queued(&self, record: RunRecord) -> Result<(), ErrorBody> {
        let ended = RunRecord { state: RunState::Stopped, finished_at: Some(now()), ..record };
        Ok(self.runner.store().finish(&ended)?)
    }

    fn publish_queue(&self, inner: &Inner, removed: Option<RunId>) {
        let queue: Vec<RunSummary> = inner.queue.iter().map(RunRecord::summary).collect();
        self.hub.publish(&Event::Runs { queue, removed });
    }

    /// Waits until the first of the queue may run. `None` when nothing waits any more; the thread then ends.
    pub(super) fn next(&self) -> Option<Job> {
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
                    inner.current = Some(Current::Run(Box::new(record.clone()), control.clone()));
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
        Some(Job::Run(Box::new(record), lock, control))
    }

    /// Runs it to its end; says whether others wait.
    pub(super) fn execute(&self, record: RunRecord, lock: Lock, control: &Control) -> bool {
        let run = record.id.clone();
        let mut more = None;
        let result = self.runner.execute(record, lock, control, |event| {
            if matches!(event, Event::RunFinished { .. }) {
                // Whoever sees the end may start the next run at once, but its start must not be seen before this end.
                let mut inner = self.inner();
                more = Some(inner.end_current());
                self.changed.notify_all();
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
