//! The server's life: locks and listeners at the start, signals, an orderly end.
//!
//! At the end the run is stopped first, so that viewers see how it ended; then viewers get Close 1001, connections
//! finish what they are at, and everything is given a few seconds at most.

pub(crate) mod connections;
mod listen;
mod patient;

use crate::http::gate::{Entry, Gate};
use crate::http::{App, router};
use crate::lan::{self, Lan, Password, Tls};
use crate::live::Hub;
use crate::lock::{Lock, LockError};
use crate::runner::Runner;
use crate::scheduler::Scheduler;
use crate::settings::{Settings, Watch};
use crate::state_dir::StateDir;
use crate::token::{self, Token};
use connections::Limits;
use power::desk::Desk;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::kiosk::Kiosk;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Time that viewers and connections get at the end.
const FAREWELL: Duration = Duration::from_secs(5);

/// Connections at one time on each loopback address. They are all the operator's, or of this host at least.
const LIMITS: Limits = Limits { total: 256, for_each_address: 256, send_buffer: None };

/// What a server needs to start.
#[derive(Debug)]
pub struct Options {
    /// Port on the loopback addresses; 0 takes any free one.
    pub port: u16,
    /// Further names under which browsers may reach it.
    pub allow_hosts: Vec<String>,
    /// Where viewers on the network are let in, if they are.
    pub lan: Option<lan::Address>,
    /// What they must know, if anything.
    pub viewer_password: Option<lan::Secret>,
    /// What their connections are encrypted with, if they are.
    pub viewer_tls: Option<lan::Choice>,
    /// What kiosk screens show.
    pub kiosk: Kiosk,
    /// The state directory.
    pub state: StateDir,
    /// Where the host's settings are read.
    pub sysroot: PathBuf,
    /// Whether an experiment goes on that ended only because its server did.
    pub resume: bool,
    /// Who lists and changes the host's settings.
    pub desk: Arc<dyn Desk>,
}

/// A server that listens, but does not answer yet.
#[derive(Debug)]
pub struct Server {
    app: Arc<App>,
    resume: bool,
    listeners: Vec<TcpListener>,
    address: String,
    /// Keeps other servers out of the state directory.
    _lock: Lock,
}

impl Server {
    /// Takes the state directory and the port.
    pub async fn start(options: Options) -> Result<Self, ErrorBody> {
        let mut lock =
            Lock::take(&options.state.server_lock(), "its start", None).map_err(|e| taken(options.state.path(), &e))?;
        let listeners = listen::loopback(options.port).await?;
        let local = listeners.first().and_then(|l| l.local_addr().ok());
        let local = local.ok_or_else(|| ErrorBody::new(ErrorCode::Internal, "The listener has no address."))?;
        let address = format!("http://{local}/");
        lock.describe(&address)
            .map_err(|e| ErrorBody::new(ErrorCode::Internal, format!("The server lock cannot be written: {e}.")))?;

        let token = Arc::new(Token::load(&options.state)?);
        let hostname = rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
        let gate =
            Gate::new(local.port(), hostname.as_deref(), &options.allow_hosts, Entry::Token(Arc::clone(&token)))?;
        let runner = Arc::new(Runner::new(options.state.clone(), &options.sysroot)?);
        let hub = Arc::new(Hub::new(token::random()?));
        let password = options.viewer_password.map(|secret| Password::new(&secret, token.secret())).transpose()?;
        let password = password.map(Arc::new);
        let names = |address| lan::Options::names(address, hostname.as_deref(), &options.allow_hosts);
        let names = options.lan.map(names).unwrap_or_default();
        let tls = options.viewer_tls.map(|choice| Tls::new(choice, &options.state, &names)).transpose()?;
        let viewers =
            options.lan.map(|address| lan::Options { address, allow_hosts: options.allow_hosts, password, tls });
        let has_viewers = viewers.is_some();
        let settings = Settings::new(options.desk, runner.root().clone());
        let app = App {
            settings,
            scheduler: Scheduler::new(Arc::clone(&runner), Arc::clone(&hub)),
            runner,
            hub,
            gate: Arc::new(gate),
            token,
            farewell: CancellationToken::new(),
            lan: Lan::new(viewers, hostname),
            kiosk: options.kiosk,
            viewers: TaskTracker::new(),
        };
        let app = Arc::new(app);
        if has_viewers {
            app.lan.open(&app)?;
        }
        Ok(Self { app, resume: options.resume, listeners, address, _lock: lock })
    }

    /// `http://127.0.0.1:7411/`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Everything the routes share.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Answers until `stop` comes true, then ends in order.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        // The first run would have to wait for this; nobody else does.
        std::thread::spawn(engine::facts::engine_facts);

        let scheduler = Arc::clone(&self.app.scheduler);
        let watch = Watch::start(Arc::clone(&self.app.settings), move || scheduler.stage());
        if let Err(e) = &watch {
            tracing::error!("settings cannot be watched: {e}");
        }
        let closing = CancellationToken::new();
        let connections = TaskTracker::new();
        let routes = router(&self.app);
        for listener in self.listeners {
            let accept =
                connections::accept(listener, routes.clone(), None, LIMITS, closing.clone(), connections.clone());
            connections.spawn(accept);
        }
        let goes_on = self.resume.then(|| {
            let app = Arc::clone(&self.app);
            tokio::task::spawn_blocking(move || crate::http::go_on(&app))
        });
        stop.await;

        if let Some(goes_on) = goes_on {
            // It begins before it is ended.
            let _ = goes_on.await;
        }
        let scheduler = Arc::clone(&self.app.scheduler);
        if tokio::task::spawn_blocking(move || scheduler.close()).await.is_err() {
            tracing::error!("the run could not be ended in order");
        }
        // In a thread that may wait: the desk may be at work for it.
        let _ = tokio::task::spawn_blocking(move || drop(watch)).await;
        self.app.farewell.cancel();
        let viewers = self.app.lan.close();
        closing.cancel();
        self.app.viewers.close();
        connections.close();
        let all = async {
            viewers.await;
            self.app.viewers.wait().await;
            connections.wait().await;
        };
        if tokio::time::timeout(FAREWELL, all).await.is_err() {
            tracing::debug!("some connections did not end in time");
        }
    }
}

/// Why a state directory cannot be a server's.
pub(crate) fn taken(state: &Path, e: &LockError) -> ErrorBody {
    let dir = state.display();
    match e {
        LockError::Held(holder) => ErrorBody::new(
            ErrorCode::Usage,
            format!("A server already uses {dir}: process {}, {}.", holder.pid, holder.what),
        )
        .hint("Use that one, stop it first, or name another directory with --state-dir."),
        LockError::Io(e) => ErrorBody::new(ErrorCode::Internal, format!("{dir} cannot be locked: {e}.")),
    }
}
