//! The stream of runs, `/ws/bench`. Lives at the root of the page and outlasts every view.

use super::frame;
use super::handle::Handle;
use super::line::{Frame, Line, Stream};
use super::machine::{Connection, SILENCE};
use crate::api;
use crate::model::{Change, State};
use crate::session::Access;
use leptos::prelude::*;
use protocol::api::SWITCHED_OFF;
use protocol::event::Event;
use protocol::run::RunId;

/// The connection as views see it.
#[derive(Clone, Copy)]
pub(crate) struct Client {
    /// The live state.
    pub(crate) handle: Handle,
    /// How the connection stands.
    pub(crate) connection: RwSignal<Connection>,
    /// Goes up when the list of stored runs may have changed.
    pub(crate) list: RwSignal<u64>,
    /// When the last frame came, in ms of this browser's clock; 0 before the first.
    pub(crate) heard: StoredValue<f64>,
    /// This page is a kiosk's, on which old numbers must not look new.
    kiosk: bool,
    /// What the server lets this browser do, once it has said so.
    pub(crate) session: RwSignal<Option<Access>>,
    /// The operator has switched viewers off; they come back by themselves when he lets them in again.
    pub(crate) switched_off: RwSignal<bool>,
}

impl Client {
    /// A client that is not connected yet.
    pub(crate) fn new(kiosk: bool) -> Self {
        Self {
            heard: StoredValue::new(0.0),
            kiosk,
            handle: Handle::new(State::default()),
            connection: RwSignal::new(Connection::default()),
            list: RwSignal::new(0),
            session: RwSignal::new(None),
            switched_off: RwSignal::new(false),
        }
    }

    /// Whether the user may do something, rather than look on.
    pub(crate) fn operates(self) -> bool {
        self.session.get() == Some(Access::Operator)
    }

    /// Connects, and stays connected for the life of the page.
    pub(crate) fn connect(self) {
        Line::open(Box::new(self), self.session);
    }
}

impl Stream for Client {
    fn path(&self) -> &'static str {
        if self.kiosk { "/ws/bench?pulse=1" } else { "/ws/bench" }
    }

    fn connection(&self) -> RwSignal<Connection> {
        self.connection
    }

    fn read(&self, text: &str) -> Option<Frame> {
        let (seq, event) = frame::read(text).ok()?;
        self.heard.set_value(js_sys::Date::now());
        let (client, snapshot) = (*self, matches!(event, Some(Event::Snapshot(_))));
        let apply = move || event.map(|event| apply(client, event)).unwrap_or_default();
        Some(Frame { seq, snapshot, apply: Box::new(apply) })
    }

    fn opens_within(&self) -> f64 {
        if self.kiosk { QUICK } else { SILENCE }
    }

    fn closed(&self, reason: &str) {
        self.switched_off.set(reason == SWITCHED_OFF);
    }

    /// A run that is on sends 20 frames a second, except while it pauses or flushes its file.
    fn patience(&self) -> Option<f64> {
        if self.kiosk {
            return Some(QUICK);
        }
        let pause = self.handle.once(|run| {
            let steps = &run.record.spec.steps;
            run.running().map(|_| steps.iter().map(|s| s.pause.as_f64() * 1e3).fold(0.0, f64::max))
        });
        pause.flatten().map(|pause| SILENCE + pause)
    }
}

/// Silence in ms after which a kiosk's connection is dead, where a frame is due every half second.
const QUICK: f64 = 2500.0;

fn apply(client: Client, event: Event) {
    if let Event::Snapshot(snapshot) = &event
        && snapshot.version != protocol::VERSION
        // A kiosk looks first whether the page is there.
        && !client.kiosk
        && reload_once(&snapshot.version)
    {
        return;
    }
    match client.handle.update(|state| state.apply(event)) {
        Change::Joined(id) => {
            client.list.update(|n| *n += 1);
            wasm_bindgen_futures::spawn_local(fill_in(client, id));
        }
        Change::List => client.list.update(|n| *n += 1),
        Change::Nothing | Change::Numbers | Change::Structure => {}
    }
}

/// Fetches what was measured before this page joined.
async fn fill_in(client: Client, id: RunId) {
    let Ok(samples) = api::samples(&id).await else { return };
    client.handle.update(|state| match &mut state.run {
        Some(run) if run.record.id == id => {
            run.backfill(&samples);
            Change::Structure
        }
        _ => Change::Nothing,
    });
}

/// Loads the page of the other version; not twice for the same one, should a cache hold on to the old page.
fn reload_once(version: &str) -> bool {
    let Ok(Some(storage)) = window().session_storage() else { return false };
    if storage.get_item("reloaded-for").ok().flatten().as_deref() == Some(version) {
        return false;
    }
    let _ = storage.set_item("reloaded-for", version);
    window().location().reload().is_ok()
}
