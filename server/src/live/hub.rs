//! From one source of events to any number of viewers.

use super::state::Bench;
use axum::extract::ws::Utf8Bytes;
use protocol::error::ErrorBody;
use protocol::event::Snapshot;
use protocol::sample::Sample;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Events that may wait for a viewer: about three seconds of samples.
const BACKLOG: usize = 64;
/// Viewers at one time.
const VIEWERS: usize = 64;

/// The events of one stream, folded into the state that a new viewer is shown.
pub trait Stream: std::fmt::Debug + Send + 'static {
    /// What happens; its JSON has a `type`.
    type Event: Serialize + Send;

    /// Takes an event into account.
    fn apply(&mut self, event: &Self::Event);

    /// The state of now, as an event.
    fn snapshot(&self) -> Self::Event;

    /// An error, as an event.
    fn error(error: ErrorBody) -> Self::Event;
}

/// Numbers events and passes them on.
#[derive(Debug)]
pub struct Hub<S = Bench> {
    inner: Mutex<Inner<S>>,
    viewers: AtomicUsize,
    resyncs: AtomicU64,
}

#[derive(Debug)]
struct Inner<S> {
    seq: u64,
    state: S,
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
        Self::of(Bench::new(server_id))
    }

    /// The state of now.
    pub fn snapshot(&self) -> Snapshot {
        self.inner().state.now()
    }

    /// Number of events so far and the newest sample of the run that is on.
    pub fn progress(&self) -> (u64, Option<Sample>) {
        let inner = self.inner();
        (inner.seq, inner.state.last_sample().cloned())
    }
}

impl<S: Stream> Hub<S> {
    /// A hub whose viewers are first shown this state.
    pub fn of(state: S) -> Self {
        let inner = Inner { seq: 0, state, sender: broadcast::Sender::new(BACKLOG) };
        Self { inner: Mutex::new(inner), viewers: AtomicUsize::new(0), resyncs: AtomicU64::new(0) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<S>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next event of the stream. Never waits for a viewer.
    pub fn publish(&self, event: &S::Event) {
        let mut inner = self.inner();
        inner.seq += 1;
        inner.state.apply(event);
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
        View { snapshot: serialise(seq, &snapshot), events }
    }

    /// Counts a viewer in, unless there are too many.
    pub fn admit(self: &std::sync::Arc<Self>) -> Option<Seat<S>> {
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
pub struct Seat<S = Bench>(std::sync::Arc<Hub<S>>);

impl<S> Seat<S> {
    pub(super) fn hub(&self) -> &Hub<S> {
        &self.0
    }
}

impl<S> Drop for Seat<S> {
    fn drop(&mut self) {
        self.0.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A frame as `protocol` has it, of any stream.
#[derive(Serialize)]
struct Framed<'a, E> {
    seq: u64,
    #[serde(flatten)]
    event: &'a E,
}

/// The frame's text. Events hold nothing that JSON cannot, so an empty text never goes out in practice.
pub(super) fn serialise<E: Serialize>(seq: u64, event: &E) -> Published {
    let text = serde_json::to_string(&Framed { seq, event }).unwrap_or_else(|e| {
        tracing::error!("an event cannot be written as JSON: {e}");
        String::new()
    });
    Published { seq, text: text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::event::{Event, Frame};
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
        hub.publish(&layout(1));
        let mut view = hub.view();
        hub.publish(&layout(2));
        hub.publish(&layout(3));
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
            hub.publish(&layout(n));
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
