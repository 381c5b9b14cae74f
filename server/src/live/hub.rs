//! From one source of events to any number of viewers.

use super::audience::{Audience, Place};
use super::power::Power;
use super::state::Bench;
use crate::mask;
use axum::extract::ws::Utf8Bytes;
use protocol::api::Role;
use protocol::error::ErrorBody;
use protocol::event::Snapshot;
use protocol::sample::Sample;
use protocol::telemetry::Telemetry;
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::broadcast;

/// Events that may wait for a viewer: about three seconds of samples.
const BACKLOG: usize = 64;
/// A snapshot that is no older than this, and after which nothing has happened, is good for the next viewer, too.
const FRESH: Duration = Duration::from_millis(50);

/// The events of one stream, folded into the state that a new viewer is shown.
pub trait Stream: std::fmt::Debug + Send + 'static {
    /// What happens; its JSON has a `type`.
    type Event: Serialize + Send;

    /// Takes an event into account.
    fn apply(&mut self, event: &Self::Event);

    /// The state of now, as an event.
    fn snapshot(&self, role: Role) -> Self::Event;

    /// An error, as an event.
    fn error(error: ErrorBody) -> Self::Event;

    /// Whether an event holds numbers only, so that there is nothing in it to be masked.
    fn is_plain(event: &Self::Event) -> bool;
}

/// Numbers events and passes them on.
#[derive(Debug)]
pub struct Hub<S = Bench> {
    inner: Mutex<Inner<S>>,
    audience: Arc<Audience>,
}

#[derive(Debug)]
struct Inner<S> {
    seq: u64,
    state: S,
    operators: Channel,
    viewers: Channel,
}

/// What those of one role are sent.
#[derive(Debug)]
struct Channel {
    sender: broadcast::Sender<Published>,
    /// The newest snapshot that somebody asked for, and when it was made.
    snapshot: Option<(Instant, Published)>,
}

impl Channel {
    fn new() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG), snapshot: None }
    }
}

impl<S> Inner<S> {
    fn channel(&mut self, role: Role) -> &mut Channel {
        match role {
            Role::Operator => &mut self.operators,
            Role::Viewer => &mut self.viewers,
        }
    }
}

/// An event as it is sent: serialised once for each role, shared by all of that role.
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
        self.inner().state.now(Role::Operator)
    }

    /// Number of events so far and the newest sample of the run that is on.
    pub fn progress(&self) -> (u64, Option<Sample>) {
        let inner = self.inner();
        (inner.seq, inner.state.last_sample().cloned())
    }
}

impl Hub<Power> {
    /// The newest telemetry, while somebody watches it.
    pub fn telemetry(&self) -> Option<Telemetry> {
        self.inner().state.telemetry().cloned()
    }
}

impl<S: Stream> Hub<S> {
    /// A hub whose viewers are first shown this state.
    pub fn of(state: S) -> Self {
        let inner = Inner { seq: 0, state, operators: Channel::new(), viewers: Channel::new() };
        Self { inner: Mutex::new(inner), audience: Arc::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<S>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next event of the stream. Never waits for a viewer.
    pub fn publish(&self, event: &S::Event) {
        let mut inner = self.inner();
        inner.seq += 1;
        inner.state.apply(event);
        let seq = inner.seq;
        let mut shared = None;
        for role in [Role::Operator, Role::Viewer] {
            let channel = inner.channel(role);
            if channel.sender.receiver_count() == 0 {
                continue;
            }
            let published = match &shared {
                Some(published) if S::is_plain(event) => Published::clone(published),
                _ => serialise(seq, event, role, S::is_plain(event)),
            };
            shared = Some(published.clone());
            // Fails only when the last viewer has just gone.
            let _ = channel.sender.send(published);
        }
    }

    /// The state of now, and a place in the stream right after it.
    pub fn view(&self, role: Role) -> View {
        let (seq, snapshot, events) = {
            let mut inner = self.inner();
            let seq = inner.seq;
            let channel = inner.channel(role);
            let events = channel.sender.subscribe();
            if let Some((made, snapshot)) = &channel.snapshot
                && snapshot.seq == seq
                && made.elapsed() < FRESH
            {
                return View { snapshot: snapshot.clone(), events };
            }
            (seq, inner.state.snapshot(role), events)
        };
        let snapshot = serialise(seq, &snapshot, role, false);
        self.inner().channel(role).snapshot = Some((Instant::now(), snapshot.clone()));
        View { snapshot, events }
    }

    /// Counts a viewer in, unless there are too many.
    pub fn admit(self: &Arc<Self>, role: Role) -> Option<Seat<S>> {
        Some(Seat { hub: Arc::clone(self), place: Audience::admit(&self.audience, role)? })
    }

    /// Everybody who watches now, and how often one of them fell behind so far.
    pub fn audience(&self) -> (usize, u64) {
        (self.watching(Role::Operator) + self.watching(Role::Viewer), self.audience.resyncs())
    }

    /// Those of one role who watch now.
    pub fn watching(&self, role: Role) -> usize {
        self.audience.watching(role)
    }

    pub(super) fn count_resync(&self) {
        self.audience.count_resync();
    }
}

/// A viewer's seat, given up when dropped.
#[derive(Debug)]
pub struct Seat<S = Bench> {
    hub: Arc<Hub<S>>,
    place: Place,
}

impl<S> Seat<S> {
    pub(super) fn hub(&self) -> &Hub<S> {
        &self.hub
    }

    pub(super) fn role(&self) -> Role {
        self.place.role()
    }
}

/// A frame as `protocol` has it, of any stream.
#[derive(Serialize)]
struct Framed<'a, E> {
    seq: u64,
    #[serde(flatten)]
    event: &'a E,
}

/// The frame's text as those of `role` get it. Events hold nothing that JSON cannot, so an empty text never goes out in
/// practice.
pub(super) fn serialise<E: Serialize>(seq: u64, event: &E, role: Role, plain: bool) -> Published {
    let frame = Framed { seq, event };
    let text = match role {
        Role::Viewer if !plain => mask::json(&frame).map(|masked| masked.to_string()),
        _ => serde_json::to_string(&frame),
    };
    let text = text.unwrap_or_else(|e| {
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
        let mut view = hub.view(Role::Operator);
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
        let mut view = hub.view(Role::Operator);
        for n in 0..10 * BACKLOG as u64 {
            hub.publish(&layout(n));
        }
        assert!(matches!(view.events.try_recv(), Err(broadcast::error::TryRecvError::Lagged(_))));
    }

    #[test]
    fn viewers_see_the_same_events_under_the_mask() {
        let hub = Hub::new("id".into());
        let (mut operator, mut viewer) = (hub.view(Role::Operator), hub.view(Role::Viewer));
        hub.publish(&layout(1));
        let error = ErrorBody::new(protocol::error::ErrorCode::Internal, "Cannot read /home/carol/secret/disk.");
        hub.publish(&Event::Error { error });
        let (plain, shared) = (operator.events.try_recv().unwrap(), viewer.events.try_recv().unwrap());
        assert_eq!(plain.text, shared.text);
        assert!(operator.events.try_recv().unwrap().text.contains("/home/carol/secret/disk"));
        let masked = viewer.events.try_recv().unwrap();
        assert!(!masked.text.contains("carol") && !masked.text.contains("secret"), "{}", masked.text);
        assert_eq!(read(&masked).seq, 2);
    }

    #[test]
    fn a_snapshot_is_made_once_for_those_who_come_together() {
        let hub = Hub::new("id".into());
        let (first, second) = (hub.view(Role::Viewer), hub.view(Role::Viewer));
        // Slow machines may take longer than a snapshot stays fresh; then it is equal all the same.
        assert_eq!(first.snapshot.text, second.snapshot.text);
        hub.publish(&layout(1));
        assert_eq!(read(&hub.view(Role::Viewer).snapshot).seq, 1);
    }
}
