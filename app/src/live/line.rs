//! The browser's WebSocket, driven by [`Machine`]: one line for one stream, open for the life of the page.

use super::machine::{Connection, Machine, Verdict};
use crate::api;
use crate::format::whole;
use crate::session::Access;
use leptos::prelude::*;
use protocol::event::ClientMessage;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{CloseEvent, MessageEvent, WebSocket};

/// A frame that was read, and what to do once it is believed.
pub(crate) struct Frame {
    /// Position in the stream.
    pub(crate) seq: u64,
    /// It holds the state of everything.
    pub(crate) snapshot: bool,
    /// Makes what it says part of the page.
    pub(crate) apply: Box<dyn FnOnce()>,
}

/// What one stream has of its own.
pub(crate) trait Stream {
    /// Where it is; asked anew for each connection.
    fn path(&self) -> &'static str;
    /// How its connection stands, for the views.
    fn connection(&self) -> RwSignal<Connection>;
    /// The server has closed the connection, and said why.
    fn closed(&self, _reason: &str) {}
    /// Reads a frame; none if this page does not know its kind.
    fn read(&self, text: &str) -> Option<Frame>;
    /// Silence in ms after which the connection is dead; none while silence is what is expected.
    fn patience(&self) -> Option<f64>;
    /// Time in ms after which a connection that has brought nothing yet is given up.
    fn opens_within(&self) -> f64;
}

/// A connection that is made anew whenever it is lost.
#[derive(Clone)]
pub(crate) struct Line(Rc<RefCell<Shell>>);

/// What the callbacks of the current socket share.
struct Shell {
    stream: Rc<dyn Stream>,
    session: RwSignal<Option<Access>>,
    machine: Machine,
    socket: Option<Socket>,
    /// When the last frame came, or the socket was opened.
    last_frame: f64,
    /// The server is being asked whether it knows this browser.
    asking: bool,
}

/// A socket with the closures it calls; dropping it takes them off and closes it.
struct Socket {
    open: WebSocket,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _close: Closure<dyn FnMut(CloseEvent)>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.open.set_onmessage(None);
        self.open.set_onclose(None);
        let _ = self.open.close();
    }
}

impl Line {
    /// Connects. `session` is told when the server no longer knows this browser.
    pub(crate) fn open(stream: Box<dyn Stream>, session: RwSignal<Option<Access>>) -> Self {
        let (stream, machine) = (stream.into(), Machine::default());
        let line = Self(Rc::new(RefCell::new(Shell {
            stream,
            session,
            machine,
            socket: None,
            last_frame: 0.0,
            asking: false,
        })));
        line.connect();
        let watched = line.clone();
        let watch = move || {
            let silent = {
                let shell = watched.0.borrow();
                let silence = js_sys::Date::now() - shell.last_frame;
                // One that does not come about is given up as well: by itself it would wait for minutes, and other
                // sockets with it, since a browser opens one after the other.
                let most =
                    if shell.machine.fed() { shell.stream.patience() } else { Some(shell.stream.opens_within()) };
                shell.socket.is_some() && most.is_some_and(|most| silence > most)
            };
            if silent {
                watched.lost();
            }
        };
        // The interval ends with the page.
        let _ = set_interval_with_handle(watch, Duration::from_millis(500));
        line
    }

    /// Connects again at once, for a stream whose path has changed.
    pub(crate) fn reopen(&self) {
        {
            let mut shell = self.0.borrow_mut();
            shell.socket = None;
            shell.machine.reopened();
        }
        self.connect();
    }

    fn connect(&self) {
        if self.0.borrow().socket.is_some() {
            return;
        }
        let path = self.0.borrow().stream.path();
        let Ok(socket) = WebSocket::new(&address(path)) else { return self.lost() };
        let line = self.clone();
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |ev: MessageEvent| {
            if let Some(text) = ev.data().as_string() {
                line.received(&text);
            }
        });
        let line = self.clone();
        // Its own closure must not be dropped while it runs.
        let on_close = Closure::<dyn FnMut(CloseEvent)>::new(move |ev: CloseEvent| {
            let (line, reason) = (line.clone(), ev.reason());
            // Attempts that fail do not know why.
            if !reason.is_empty() {
                let stream = Rc::clone(&line.0.borrow().stream);
                stream.closed(&reason);
            }
            set_timeout(move || line.lost(), Duration::ZERO);
        });
        // A refused connection fires `error` (which says nothing) and then `close`; the latter is enough.
        socket.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        socket.set_onclose(Some(on_close.as_ref().unchecked_ref()));
        let mut shell = self.0.borrow_mut();
        shell.last_frame = js_sys::Date::now();
        shell.socket = Some(Socket { open: socket, _message: on_message, _close: on_close });
    }

    fn lost(&self) {
        let (stream, session, pause, asking) = {
            let mut shell = self.0.borrow_mut();
            shell.socket = None;
            let pause = shell.machine.closed(js_sys::Math::random());
            // Who expects frames soon does not wait long between two attempts.
            let pause = shell.stream.patience().map_or(pause, |most| pause.min(most / 4.0));
            (Rc::clone(&shell.stream), shell.session, pause, std::mem::replace(&mut shell.asking, true))
        };
        stream.connection().set(Connection::Lost);
        let again = self.clone();
        set_timeout(move || again.connect(), Duration::from_millis(whole(pause).into()));
        // A refused upgrade looks like a lost network; only the session tells them apart.
        if asking {
            return;
        }
        let line = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            learn(session).await;
            line.0.borrow_mut().asking = false;
        });
    }

    fn received(&self, text: &str) {
        let stream = Rc::clone(&self.0.borrow().stream);
        let Some(frame) = stream.read(text) else { return };
        let verdict = {
            let mut shell = self.0.borrow_mut();
            shell.last_frame = js_sys::Date::now();
            shell.machine.frame(frame.seq, frame.snapshot)
        };
        match verdict {
            Verdict::Skip => {}
            Verdict::Resync => {
                if let (Ok(text), Some(socket)) =
                    (serde_json::to_string(&ClientMessage::Resync), &self.0.borrow().socket)
                {
                    let _ = socket.open.send_with_str(&text);
                }
            }
            Verdict::Apply => {
                (frame.apply)();
                if frame.snapshot {
                    let session = self.0.borrow().session;
                    if !session.get_untracked().is_some_and(Access::sees) {
                        wasm_bindgen_futures::spawn_local(learn(session));
                    }
                    stream.connection().set(Connection::Live);
                }
            }
        }
    }
}

/// Asks what this browser may do.
async fn learn(session: RwSignal<Option<Access>>) {
    if let Some(access) = api::session().await
        && session.get_untracked() != Some(access)
    {
        session.set(Some(access));
    }
}

fn address(path: &str) -> String {
    let location = window().location();
    let scheme = if location.protocol().is_ok_and(|p| p == "https:") { "wss" } else { "ws" };
    format!("{scheme}://{}{path}", location.host().unwrap_or_default())
}
