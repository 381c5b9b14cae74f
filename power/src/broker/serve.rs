//! The broker's life: it owns the keeper, answers callers, and puts settings back when their time is over.

use super::act::{Acts, Experiment, Known};
use super::connection::{Caller, Connection, Next};
use super::logind::{Heard, Logind};
use super::meters::Meters;
use super::sentinel::{Sentinel, end_session, open_patiently, settle_in, tell};
use super::wire::Answer;
use crate::desk::LEASE;
use crate::keeper::Scope;
use crate::root::Root;
use protocol::knob::{Restored, RestoredItem};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::net::{SocketFlags, accept_with, sockopt::socket_peercred};
use rustix::process::geteuid;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Command lines that are answered at a time.
const CROWD: usize = 8;
/// Longest time between two looks at what is due: timers of `poll` stand still while the host sleeps.
const NAP: Duration = Duration::from_secs(5);
/// Before something that failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Between two looks at the journal's file while settings are changed: the sentinel must find it.
const LOOK: Duration = Duration::from_secs(1);
/// Between two tries of what could not go back.
const RETRY: Duration = Duration::from_secs(2);

/// What a broker starts with.
pub struct Setup {
    /// The host, or a recorded one.
    pub root: Root,
    /// Directory of the journal, private to this user.
    pub journal: PathBuf,
    /// The server's end of the conversation.
    pub server: OwnedFd,
    /// Ends the broker when something can be read from it.
    pub signals: UnixStream,
    /// Makes the command that becomes a sentinel ([`super::sentinel::watch`]).
    pub sentinel: fn(&Root) -> Command,
}

/// Why a broker cannot be.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// The system refuses what a broker needs.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

/// Name of the socket in the journal's directory on which the broker of this root answers command lines.
pub fn socket_name(root: &Root) -> String {
    if root.is_live() {
        return "broker.sock".into();
    }
    let mut hasher = DefaultHasher::new();
    root.path().hash(&mut hasher);
    format!("broker-{:016x}.sock", hasher.finish())
}

/// Opens the journal, puts back what a session that died has left, then answers until the server is gone or a signal
/// comes, and puts back what that session has changed.
pub fn serve(setup: Setup, say: &mut dyn FnMut(&str)) -> Result<(), BrokerError> {
    let failed = |what: &'static str| move |source: io::Error| BrokerError::Io { what, source };
    settle_in();
    let opened = open_patiently(&setup.root, &setup.journal);
    let mut server = Connection::new(setup.server, Caller::Server).map_err(failed("use the server's socket"))?;
    let mut keeper = match opened {
        Ok(keeper) => keeper,
        Err(error) => {
            // The server, which has just started, waits for a first word.
            server.answer(0, Answer::Error(error.into()), None);
            return server.write().map_err(failed("answer the server"));
        }
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let journal = rustix::fs::open(&setup.journal, flags, Mode::empty());
    let journal = journal.map_err(|e| failed("open the journal's directory")(e.into()))?;
    // Before anything can be changed.
    let sentinel =
        Sentinel::start((setup.sentinel)(&setup.root), journal.as_fd()).map_err(failed("start a sentinel"))?;
    tell(&end_session(&mut keeper), say);
    tell(&keeper.restore(Scope::Expired, false), say);

    // By the directory's descriptor: a socket's path may have no more than 107 bytes.
    let socket = PathBuf::from(format!("/proc/self/fd/{}/{}", journal.as_raw_fd(), socket_name(&setup.root)));
    let logind = Logind::listen(&setup.root);
    let mut broker = Broker {
        acts: Acts {
            root: setup.root,
            keeper,
            meters: Meters::default(),
            hints: Known::default(),
            experiment: Experiment::default(),
        },
        connections: vec![server],
        listener: listen(&socket).map_err(failed("listen for command lines"))?,
        signals: setup.signals,
        logind,
        sentinel: Some(sentinel),
        leased: true,
        rest: Instant::now(),
        next_look: Instant::now(),
        next_try: Instant::now() + RETRY,
        is_unwritten: false,
    };
    let new_sentinel = |root: &Root| Sentinel::start((setup.sentinel)(root), journal.as_fd());
    while broker.turn(&new_sentinel, say) {}
    // The next caller is to find either a broker or none.
    let _ = std::fs::remove_file(&socket);
    broker.end(say);
    Ok(())
}

fn listen(socket: &Path) -> io::Result<UnixListener> {
    // Holding the journal's lock, we are the only broker: what is there is left from one that was killed.
    match std::fs::remove_file(socket) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

struct Broker {
    acts: Acts,
    connections: Vec<Connection>,
    listener: UnixListener,
    signals: UnixStream,
    logind: Option<Logind>,
    sentinel: Option<Sentinel>,
    /// The server has shown life since settings last went back for want of it.
    leased: bool,
    /// Nothing that failed is tried again before.
    rest: Instant,
    /// When the journal's file is looked at.
    next_look: Instant,
    /// When what could not go back is tried again.
    next_try: Instant,
    /// The journal could not be kept when last looked at, which was said.
    is_unwritten: bool,
}

impl Broker {
    /// Waits for something to do and does it. `false` when it is time to end.
    fn turn(&mut self, new_sentinel: &dyn Fn(&Root) -> io::Result<Sentinel>, say: &mut dyn FnMut(&str)) -> bool {
        let ready = match self.wait() {
            Ok(ready) => ready,
            Err(e) => {
                say(&format!("The broker cannot wait for its callers: {e}."));
                return false;
            }
        };
        let now = Instant::now();
        let [signal, listener, sentinel, logind, connections @ ..] = ready.as_slice() else { return false };
        if !signal.is_empty() {
            return false;
        }
        if !sentinel.is_empty()
            && let Some(dead) = self.sentinel.take()
        {
            dead.bury();
        }
        let connections = connections.to_vec();
        if !logind.is_empty() {
            self.take_leave(say);
        }
        if !listener.is_empty() {
            self.accept();
        }
        let server_heard = connections.first().is_some_and(|flags| !flags.is_empty());
        if !self.converse(&connections, now) {
            return false;
        }
        self.look_after(new_sentinel, server_heard, now, say);
        true
    }

    /// Puts back before the host sleeps or ends.
    fn take_leave(&mut self, say: &mut dyn FnMut(&str)) {
        match self.logind.as_mut().map(Logind::hear) {
            Some(Heard::Leaving(delay)) => {
                tell(&end_session(&mut self.acts.keeper), say);
                drop(delay);
            }
            Some(Heard::Gone) | None => self.logind = None,
        }
    }

    /// Which of signal, listener, sentinel, logind and connections have something.
    fn wait(&self) -> io::Result<Vec<PollFlags>> {
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.listener, PollFlags::IN)];
        let sentinel = self.sentinel.as_ref().map(Sentinel::pidfd);
        let logind = self.logind.as_ref().map(|logind| logind.ear().as_fd());
        for fd in [sentinel, logind] {
            // Where there is none, a second look at the signals keeps the places.
            let none = || PollFd::new(&self.signals, PollFlags::empty());
            fds.push(fd.map_or_else(none, |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        }
        fds.extend(self.connections.iter().map(|c| PollFd::new(c.socket(), c.interest())));
        let timeout = Timespec::try_from(self.timeout()).map_err(io::Error::other)?;
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) => Ok(fds.iter().map(PollFd::revents).collect()),
            Err(rustix::io::Errno::INTR) => Ok(vec![PollFlags::empty(); fds.len()]),
            Err(e) => Err(e.into()),
        }
    }

    /// Time until something is due.
    fn timeout(&self) -> Duration {
        let now = Instant::now();
        let rest = self.rest.saturating_duration_since(now);
        let lease = self.connections.first().filter(|_| self.leased).map(|server| server.heard + LEASE);
        let answers = self.connections.iter().filter_map(Connection::deadline);
        let soonest = answers.chain(lease).map(|at| at.saturating_duration_since(now)).min();
        let due = self.acts.keeper.next_expiry().map(|left| left.max(rest));
        let sentinel = self.sentinel.is_none().then_some(rest);
        let changed = !self.acts.keeper.is_clean();
        let look = changed.then(|| self.next_look.saturating_duration_since(now));
        let again = self.acts.keeper.owes().then(|| self.next_try.saturating_duration_since(now));
        soonest.into_iter().chain(look).chain(again).chain(due).chain(sentinel).min().map_or(NAP, |t| t.min(NAP))
    }

    fn accept(&mut self) {
        // A caller that is gone already is none.
        let Ok(socket) = accept_with(&self.listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) else { return };
        let trusted = socket_peercred(&socket).is_ok_and(|caller| caller.uid.is_root() || caller.uid == geteuid());
        if trusted
            && self.connections.len() <= CROWD
            && let Ok(connection) = Connection::new(socket, Caller::CommandLine)
        {
            self.connections.push(connection);
        }
    }

    /// Reads, answers and writes as far as that goes without waiting. `false` once the server is gone.
    fn converse(&mut self, ready: &[PollFlags], now: Instant) -> bool {
        let acts = &mut self.acts;
        let mut n = 0;
        self.connections.retain_mut(|connection| {
            let flags = ready.get(n).copied().unwrap_or(PollFlags::empty());
            n += 1;
            let late = connection.deadline().is_some_and(|deadline| deadline <= now);
            !late && (flags.is_empty() || attend(connection, flags, acts))
        });
        self.connections.first().is_some_and(|c| c.caller == Caller::Server)
    }

    /// Lease, expiries, sentinel.
    fn look_after(
        &mut self,
        new_sentinel: &dyn Fn(&Root) -> io::Result<Sentinel>,
        server_heard: bool,
        now: Instant,
        say: &mut dyn FnMut(&str),
    ) {
        let silent = self.connections.first().is_some_and(|server| server.heard + LEASE <= now);
        if server_heard {
            self.leased = true;
        } else if self.leased && silent {
            self.leased = false;
            let report = end_session(&mut self.acts.keeper);
            if !report.items.is_empty() {
                say("The server shows no sign of life: its settings were put back.");
            }
            tell(&report, say);
        }
        self.look_at_journal(now, say);
        if self.next_try <= now {
            self.next_try = now + RETRY;
            if self.acts.keeper.owes() {
                tell(&self.acts.keeper.try_again(), say);
            }
        }
        if self.rest > now {
            return;
        }
        if self.acts.keeper.next_expiry().is_some_and(|left| left.is_zero()) {
            tell(&self.acts.keeper.restore(Scope::Expired, false), say);
            self.rest = now + PAUSE;
        }
        if self.sentinel.is_none() {
            match new_sentinel(&self.acts.root) {
                Ok(sentinel) => self.sentinel = Some(sentinel),
                Err(e) => say(&format!("There is no sentinel: {e}.")),
            }
            // Not in a circle as fast as it goes, if sentinels die at once.
            self.rest = now + PAUSE;
        }
    }

    /// Writes the journal anew if somebody has removed or cut it.
    fn look_at_journal(&mut self, now: Instant, say: &mut dyn FnMut(&str)) {
        if self.next_look > now {
            return;
        }
        self.next_look = now + LOOK;
        match self.acts.keeper.keep_journal() {
            Ok(()) => self.is_unwritten = false,
            Err(error) if !self.is_unwritten => {
                self.is_unwritten = true;
                say(&format!("If this broker is killed now, settings may stay changed: {error}."));
            }
            Err(_) => {}
        }
    }

    /// Puts back what the session has changed; what has its own time to end is left to the sentinel.
    fn end(mut self, say: &mut dyn FnMut(&str)) {
        let report = end_session(&mut self.acts.keeper);
        tell(&report, say);
        let is_back = |item: &RestoredItem| !matches!(item.end, Restored::Failed | Restored::Gone);
        let is_left = !report.items.iter().all(is_back) || self.acts.keeper.next_expiry().is_some();
        // Frees the journal.
        drop(self.acts);
        match self.sentinel {
            Some(sentinel) if is_left => sentinel.hand_over(),
            Some(sentinel) => sentinel.dismiss(),
            None => {}
        }
    }
}

/// `false` once the caller is gone or cannot be understood.
fn attend(connection: &mut Connection, flags: PollFlags, acts: &mut Acts) -> bool {
    let moved = if flags.contains(PollFlags::OUT) { connection.write() } else { connection.read() };
    if moved.is_err() {
        return false;
    }
    loop {
        let request = match connection.next() {
            Next::Request(request) => request,
            Next::Wait => return true,
            Next::Close => return false,
        };
        let (answer, descriptor) = acts
            .answer(connection.caller, &mut connection.listing, request.verb)
            .unwrap_or_else(|error| (Answer::Error(error), None));
        connection.answer(request.seq, answer, descriptor);
        if connection.write().is_err() {
            return false;
        }
    }
}
