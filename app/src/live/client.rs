//! The browser's WebSocket, driven by [`Machine`]. Lives at the root of the page and outlasts every view.

use super::frame;
use super::handle::Handle;
use super::machine::{Connection, Machine, SILENCE, Verdict};
use crate::api;
use crate::format::whole;
use crate::model::{Change, State};
use leptos::prelude::*;
use protocol::event::{ClientMessage, Event};
use protocol::run::RunId;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{MessageEvent, WebSocket};

/// The connection as views see it.
#[derive(Clone, Copy)]
pub(crate) struct Client {
    /// The live state.
    pub(crate) handle: Handle,
    /// How the connection stands.
    pub(crate) connection: RwSignal<Connection>,
    /// Goes up when the list of stored runs may have changed.
    pub(crate) list: RwSignal<u64>,
    /// False when the server does not know this browser.
    pub(crate) session: RwSignal<Option<bool>>,
}

/// What the callbacks of the current socket share.
struct Shell {
    client: Client,
    machine: Machine,
    socket: Option<Socket>,
    last_frame: f64,
}

/// A socket with the closures it calls; dropping it takes them off and closes it.
struct Socket {
    open: WebSocket,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _close: Closure<dyn FnMut()>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.open.set_onmessage(None);
        self.open.set_onclose(None);
        let _ = self.open.close();
    }
}

impl Client {
    /// A client that is not connected yet.
    pub(crate) fn new() -> Self {
        Self {
            handle: Handle::new(State::default()),
            connection: RwSignal::new(Connection::default()),
            list: RwSignal::new(0),
            session: RwSignal::new(None),
        }
    }

    /// Connects, and stays connected for the life of the page.
    pub(crate) fn connect(self) {
        let shell =
            Rc::new(RefCell::new(Shell { client: self, machine: Machine::default(), socket: None, last_frame: 0.0 }));
        open(&shell);
        let watch = move || {
            let pause = self.handle.once(|run| {
                let steps = &run.record.spec.steps;
                run.running().map(|_| steps.iter().map(|s| s.pause.as_f64() * 1e3).fold(0.0, f64::max))
            });
            let live = shell.borrow().machine.connection() == Connection::Live;
            let silence = js_sys::Date::now() - shell.borrow().last_frame;
            if live && pause.flatten().is_some_and(|pause| silence > SILENCE + pause) {
                lost(&shell);
            }
        };
        // The interval ends with the page.
        let _ = set_interval_with_handle(watch, Duration::from_secs(1));
    }
}

fn address() -> String {
    let location = window().location();
    let scheme = if location.protocol().is_ok_and(|p| p == "https:") { "wss" } else { "ws" };
    format!("{scheme}://{}/ws/bench", location.host().unwrap_or_default())
}

fn open(shell: &Rc<RefCell<Shell>>) {
    let Ok(socket) = WebSocket::new(&address()) else { return lost(shell) };
    let on_message = {
        let shell = Rc::clone(shell);
        Closure::<dyn FnMut(MessageEvent)>::new(move |ev: MessageEvent| {
            if let Some(text) = ev.data().as_string() {
                received(&shell, &text);
            }
        })
    };
    let on_close = {
        let shell = Rc::clone(shell);
        // Its own closure must not be dropped while it runs.
        Closure::<dyn FnMut()>::new(move || {
            let shell = Rc::clone(&shell);
            set_timeout(move || lost(&shell), Duration::ZERO);
        })
    };
    // A refused connection fires `error` (which says nothing) and then `close`; the latter is enough.
    socket.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    socket.set_onclose(Some(on_close.as_ref().unchecked_ref()));
    shell.borrow_mut().socket = Some(Socket { open: socket, _message: on_message, _close: on_close });
}

fn lost(shell: &Rc<RefCell<Shell>>) {
    let (client, pause) = {
        let mut shell = shell.borrow_mut();
        shell.socket = None;
        (shell.client, shell.machine.closed(js_sys::Math::random()))
    };
    client.connection.set(Connection::Lost);
    let again = Rc::clone(shell);
    set_timeout(move || open(&again), Duration::from_millis(whole(pause).into()));
    // A refused upgrade looks like a lost network; only the session tells them apart.
    wasm_bindgen_futures::spawn_local(async move {
        if let Some(known) = api::session().await {
            client.session.set(Some(known));
        }
    });
}

fn received(shell: &Rc<RefCell<Shell>>, text: &str) {
    // A newer server may know events that this page does not; its snapshot will say so.
    let Ok((seq, event)) = frame::read(text) else { return };
    let verdict = {
        let mut shell = shell.borrow_mut();
        shell.last_frame = js_sys::Date::now();
        shell.machine.frame(seq, matches!(event, Event::Snapshot(_)))
    };
    match verdict {
        Verdict::Skip => {}
        Verdict::Resync => {
            if let (Ok(text), Some(socket)) = (serde_json::to_string(&ClientMessage::Resync), &shell.borrow().socket) {
                let _ = socket.open.send_with_str(&text);
            }
        }
        Verdict::Apply => apply(shell.borrow().client, event),
    }
}

fn apply(client: Client, event: Event) {
    if let Event::Snapshot(snapshot) = &event {
        if snapshot.version != protocol::VERSION && reload_once(&snapshot.version) {
            return;
        }
        client.session.set(Some(true));
        client.connection.set(Connection::Live);
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
