//! From one source of events to any number of viewers.

use super::state::State;
use axum::extract::ws::Utf8Bytes;
use protocol::event::{Event, Frame, Snapshot};
use protocol::sample::Sample;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Events that may wait for a viewer: about three seconds of samples.
const BACKLOG: usize = 64;
/// Viewers at one time.
const VIEWERS: usize = 64;

/// Numbers events and passes them on.
#[derive(Debug)]
pub struct Hub {
    inner: Mutex<Inner>,
    viewers: AtomicUsize,
    resyncs: AtomicU64,
}

#[derive(Debug)]
struct Inner {
    seq: u64,
    state: State,
    sender: broadcast::Sender<Published>,
}

/// An event as it is sent: serialised once, shared by all viewers.
#[derive(Debug, Clone)]
pub(super) struct Published {
    pub(super) seq: u64,
    pub(super) text: Utf8Bytes,
}

/// A viewer's place in the stream: the state at one moment, and every event after it.
#[derive(Debug)]
pub struct View {
    pub(super) snapshot: Published,
    pub(super) events: broadcast::Receiver<Published>,
}

impl Hub {
    /// A hub that has seen nothing; `server_id` tells viewers this start of the server from another.
    pub fn new(server_id: String) -> Self {
        let inner = Inner { seq: 0, state: State::new(server_id), sender: broadcast::Sender::new(BACKLOG) };
        Self { inner: Mutex::new(inner), viewers: AtomicUsize::new(0), resyncs: AtomicU64::new(0) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next event of the stream. Never waits for a viewer.
    pub fn publish(&self, event: Event) {
        let mut inner = self.inner();
        inner.seq += 1;
        inner.state.apply(&event);
        if inner.sender.receiver_count() > 0 {
            let published = serialise(inner.seq, event);
            // Fails only when the last viewer has just gone.
            let _ = inner.sender.send(published);
        }
    }

    /// The state of now, and a place in the stream right after it.
    pub fn view(&self) -> View {
        let (seq, snapshot, events) = {
            let inner = self.inner();
            (inner.seq, inner.state.snapshot(), inner.sender.subscribe())
        };
        View { snapshot: serialise(seq, Event::Snapshot(Box::new(snapshot))), events }
    }

    /// The state of now.
    pub fn snapshot(&self) -> Snapshot {
        self.inner().state.snapshot()
    }

    /// Number of events so far and the newest sample of the run that is on.
    pub fn progress(&self) -> (u64, Option<Sample>) {
        let inner = self.inner();
        (inner.seq, inner.state.last_sample().cloned())
    }

    /// Counts a viewer in, unless there are too many.
    pub fn admit(self: &std::sync::Arc<Self>) -> Option<Seat> {
        let seats = |n| (n < VIEWERS).then_some(n + 1);
        self.viewers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, seats).ok()?;
        Some(Seat(std::sync::Arc::clone(self)))
    }

    /// Viewers now, and how often one fell behind so far.
    pub fn audience(&self) -> (usize, u64) {
        (self.viewers.load(Ordering::Relaxed), self.resyncs.load(Ordering::Relaxed))
    }

    pub(super) fn count_resync(&self) {
        self.resyncs.fetch_add(1, Ordering::Relaxed);
    }
}

/// A viewer's seat, given up when dropped.
#[derive(Debug)]
pub struct Seat(std::sync::Arc<Hub>);

impl Seat {
    pub(super) fn hub(&self) -> &Hub {
        &self.0
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The frame's text. Events hold nothing that JSON cannot, so an empty text never goes out in practice.
pub(super) fn serialise(seq: u64, event: Event) -> Published {
    let text = serde_json::to_string(&Frame { seq, event }).unwrap_or_else(|e| {
        tracing::error!("an event cannot be written as JSON: {e}");
        String::new()
    });
    Published { seq, text: text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::run::RunId;
    use std::sync::Arc;

    fn layout(n: u64) -> Event {
        use protocol::units::{Bytes, BytesPerSecond};
        let (done, total, bw) = (Bytes(n), Bytes(1000), BytesPerSecond(0.0));
        Event::Layout { run: RunId::new(), done, total, bw, progress: 0.0, eta_ms: 0.0 }
    }

    fn read(published: &Published) -> Frame {
        serde_json::from_str(&published.text).unwrap()
    }

    #[test]
    fn a_view_is_the_state_and_then_every_event_without_a_gap() {
        let hub = Hub::new("id".into());
        hub.publish(layout(1));
        let mut view = hub.view();
        hub.publish(layout(2));
        hub.publish(layout(3));
        let frames =
            [read(&view.snapshot), read(&view.events.try_recv().unwrap()), read(&view.events.try_recv().unwrap())];
        assert_eq!(frames.each_ref().map(|f| f.seq), [1, 2, 3]);
        let Event::Snapshot(snapshot) = &frames[0].event else { panic!("{:?}", frames[0]) };
        assert_eq!((snapshot.server_id.as_str(), snapshot.layout.unwrap().0.0), ("id", 1));
    }

    #[test]
    fn a_viewer_that_does_not_read_costs_nothing_but_its_place() {
        let hub = Hub::new("id".into());
        let mut view = hub.view();
        for n in 0..10 * BACKLOG as u64 {
            hub.publish(layout(n));
        }
        assert!(matches!(view.events.try_recv(), Err(broadcast::error::TryRecvError::Lagged(_))));
    }

    #[test]
    fn seats_are_limited_and_given_back() {
        let hub = Arc::new(Hub::new("id".into()));
        let seats: Vec<_> = (0..VIEWERS).map(|_| hub.admit().unwrap()).collect();
        assert!(hub.admit().is_none());
        drop(seats);
        assert!(hub.admit().is_some());
    }
}
