//! logind, where it runs, holds the host's sleep or shutdown back until settings are as they were found
//! (`org.freedesktop.login1(5)`, delay inhibitors).

use crate::root::Root;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zbus::blocking::Proxy;
use zbus::blocking::connection::Builder;

const SERVICE: &str = "org.freedesktop.login1";
const PATH: &str = "/org/freedesktop/login1";
const INTERFACE: &str = "org.freedesktop.login1.Manager";
const TIMEOUT: Duration = Duration::from_secs(3);

/// The delay, as long as it is held.
type Delay = Arc<Mutex<Option<OwnedFd>>>;

/// A thread that listens to logind and says when the host is about to sleep or to end.
#[derive(Debug)]
pub(super) struct Logind {
    ear: UnixStream,
    delay: Delay,
}

/// What was heard.
#[derive(Debug)]
pub(super) enum Heard {
    /// The host sleeps or ends as soon as this is dropped, or after a few seconds.
    Leaving(Option<OwnedFd>),
    /// Nothing will be heard any more.
    Gone,
}

impl Logind {
    /// Begins to listen, if there can be a logind. A recorded machine has none, unless a bus is named in the
    /// environment.
    pub(super) fn listen(root: &Root) -> Option<Self> {
        if !root.is_live() && std::env::var_os("DBUS_SYSTEM_BUS_ADDRESS").is_none() {
            return None;
        }
        let (ear, mouth) = UnixStream::pair().ok()?;
        let delay = Delay::default();
        let held = Arc::clone(&delay);
        // Where there is no bus or no logind, the mouth closes and that is all.
        let thread = move || drop(listen(&held, mouth));
        std::thread::Builder::new().name("logind".into()).spawn(thread).ok()?;
        Some(Self { ear, delay })
    }

    /// Can be read when there is something to hear.
    pub(super) fn ear(&self) -> &UnixStream {
        &self.ear
    }

    /// What there is to hear.
    pub(super) fn hear(&mut self) -> Heard {
        match self.ear.read(&mut [0; 64]) {
            Ok(0) | Err(_) => Heard::Gone,
            // Taken at once: when the host is back, there will be another one.
            Ok(_) => Heard::Leaving(held(&self.delay).take()),
        }
    }
}

fn held(delay: &Delay) -> MutexGuard<'_, Option<OwnedFd>> {
    delay.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(delay: &Delay, mut mouth: UnixStream) -> zbus::Result<()> {
    let connection = Builder::system()?.method_timeout(TIMEOUT).build()?;
    let manager = Proxy::new(&connection, SERVICE, PATH, INTERFACE)?;
    let signals = manager.receive_all_signals()?;
    let inhibit = || -> zbus::Result<OwnedFd> {
        let why = "putting power settings back";
        let fd: zbus::zvariant::OwnedFd = manager.call("Inhibit", &("sleep:shutdown", "Brakecheck", why, "delay"))?;
        Ok(fd.into())
    };
    *held(delay) = Some(inhibit()?);
    for signal in signals {
        let header = signal.header();
        let name = header.member().map(zbus::names::MemberName::as_str);
        if !matches!(name, Some("PrepareForSleep" | "PrepareForShutdown")) {
            continue;
        }
        let leaving: bool = signal.body().deserialize()?;
        if leaving {
            mouth.write_all(b"!").map_err(|e| zbus::Error::InputOutput(Arc::new(e)))?;
        } else {
            *held(delay) = Some(inhibit()?);
        }
    }
    Ok(())
}
