//! The listener for viewers on the network, which can be switched on and off while the server runs.
//!
//! Its routes are the viewers' ([`viewers_router`]): none of them changes anything, and what they answer is masked.

mod address;
mod attempts;
mod password;
mod tls;

pub use address::Address;
pub use password::{Given, Password, Secret};
pub use tls::{Choice, Pair, Tls};

use crate::http::gate::{Entry, Gate};
use crate::http::{App, viewers_router};
use crate::serve::connections::{self, Limits};
use protocol::api::{LanStatus, Role};
use protocol::error::{ErrorBody, ErrorCode};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Connections at one time, open sockets included, and how many of them one address may have.
const LIMITS: Limits = Limits { total: 1024, for_each_address: 256, send_buffer: Some(128 * 1024) };
/// Time that viewers' connections get to end.
const FAREWELL: Duration = Duration::from_secs(2);

/// What is needed to let viewers in.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen.
    pub address: Address,
    /// Further names under which browsers may reach it.
    pub allow_hosts: Vec<String>,
    /// What viewers must know, if anything.
    pub password: Option<Arc<Password>>,
    /// What connections are encrypted with, if they are.
    pub tls: Option<Tls>,
}

/// The listener, on or off.
#[derive(Debug)]
pub struct Lan {
    options: Option<Options>,
    hostname: Option<String>,
    open: Mutex<Option<Open>>,
    /// The port that it had last, which it gets again, so that viewers find it; 0 before.
    port: AtomicU16,
}

/// A listener that is on.
#[derive(Debug)]
struct Open {
    address: SocketAddr,
    closing: CancellationToken,
    connections: TaskTracker,
}

impl Options {
    /// Names for a certificate of our own: this host's, those that are allowed, and its address.
    pub fn names(address: Address, hostname: Option<&str>, allowed: &[String]) -> Vec<String> {
        let host = hostname.into_iter().flat_map(|host| [host.to_owned(), format!("{host}.local")]);
        let allowed = allowed.iter().filter_map(|name| Some(name.split(':').next()?.to_owned()));
        let address = address.shown().map(|ip| ip.to_string());
        ["localhost".to_owned()].into_iter().chain(host).chain(allowed).chain(address).collect()
    }
}

impl Lan {
    /// A listener that is off. Without options it stays so.
    pub fn new(options: Option<Options>, hostname: Option<String>) -> Self {
        Self { options, hostname, open: Mutex::default(), port: AtomicU16::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Switches it on, unless it is on already or no address was named at the start.
    pub fn open(&self, app: &Arc<App>) -> Result<(), ErrorBody> {
        let Some(options) = &self.options else {
            return Err(ErrorBody::new(ErrorCode::Usage, "No address for viewers was named when the server started.")
                .hint("Start it with --lan ADDRESS; 0.0.0.0 stands for every address of this host."));
        };
        let mut open = self.state();
        if open.is_some() {
            return Ok(());
        }
        let (listener, address) = options.address.or_port(self.port.load(Ordering::Relaxed)).listen()?;
        self.port.store(address.port(), Ordering::Relaxed);
        let listener = TcpListener::from_std(listener).map_err(|e| {
            ErrorBody::new(ErrorCode::Internal, format!("The listener for viewers cannot be used: {e}."))
        })?;
        let entry = options.password.clone().map_or(Entry::Open, Entry::Password);
        let gate = Gate::new(address.port(), self.hostname.as_deref(), &options.allow_hosts, entry)?;
        let gate = if options.tls.is_some() { gate.over_tls() } else { gate };
        let tls = options.tls.as_ref().map(|tls| tls.acceptor.clone());
        let (closing, connections) = (CancellationToken::new(), TaskTracker::new());
        let routes = viewers_router(app, gate, closing.clone());
        connections.spawn(connections::accept(listener, routes, tls, LIMITS, closing.clone(), connections.clone()));
        *open = Some(Open { address, closing, connections });
        Ok(())
    }

    /// Switches it off and sends its viewers away.
    pub async fn close(&self) {
        let Some(open) = self.state().take() else { return };
        open.closing.cancel();
        open.connections.close();
        if tokio::time::timeout(FAREWELL, open.connections.wait()).await.is_err() {
            tracing::debug!("some viewers' connections did not end in time");
        }
    }

    /// Whether it is on, where, and how many watch.
    pub fn status(&self, app: &App) -> LanStatus {
        let address = self.state().as_ref().map(|open| open.address);
        let tls = self.options.as_ref().and_then(|o| o.tls.as_ref());
        let scheme = if tls.is_some() { "https" } else { "http" };
        LanStatus {
            configured: self.options.is_some(),
            on: address.is_some(),
            url: address.map(|a| address::url(scheme, a, self.hostname.as_deref())),
            note: address.and_then(address::note),
            fingerprint: tls.map(|tls| tls.fingerprint.clone()),
            candidate: if self.options.is_none() { address::candidate() } else { None },
            password: self.options.as_ref().is_some_and(|o| o.password.is_some()),
            viewers: u32::try_from(app.hub.watching(Role::Viewer)).unwrap_or(u32::MAX),
        }
    }
}
