//! The store as a consumer of a run's events.

use crate::store::{Store, StoreError};
use protocol::error::ErrorBody;
use protocol::event::Event;
use protocol::run::RunId;
use protocol::sample::Sample;
use std::time::{Duration, Instant};

/// Samples wait at most this long to be written.
const BATCH: Duration = Duration::from_millis(250);

/// Writes results at once and samples in batches. A run goes on when it cannot be stored (the state directory may be
/// full, or on the drive that failed); that is said once.
pub(super) struct Recorder<'a> {
    store: &'a Store,
    run: RunId,
    batch: Vec<Sample>,
    /// When the oldest sample of the batch came.
    since: Instant,
    /// Samples written so far.
    written: u64,
    troubled: bool,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(store: &'a Store, run: RunId) -> Self {
        Self { store, run, batch: Vec::new(), since: Instant::now(), written: 0, troubled: false }
    }

    /// Takes note of an event; returns an event that says that storing failed, the first time it does.
    pub(super) fn record(&mut self, event: &Event) -> Option<Event> {
        match event {
            Event::Sample { sample, .. } => {
                if self.batch.is_empty() {
                    self.since = Instant::now();
                }
                self.batch.push((**sample).clone());
                if self.since.elapsed() < BATCH { None } else { self.flush() }
            }
            Event::WorkloadFinished { result, .. } => {
                let trouble = self.flush();
                let stored = self.store.add_result(&self.run, result);
                trouble.or_else(|| self.check(stored))
            }
            _ => None,
        }
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self) -> Option<Event> {
        let batch = std::mem::take(&mut self.batch);
        let stored = self.store.append_samples(&self.run, self.written, &batch);
        self.written += batch.len() as u64;
        self.check(stored)
    }

    fn check(&mut self, stored: Result<(), StoreError>) -> Option<Event> {
        let error: ErrorBody = stored.err()?.into();
        if std::mem::replace(&mut self.troubled, true) {
            return None;
        }
        tracing::error!("results are not being stored: {error}");
        Some(Event::Error { error })
    }
}
