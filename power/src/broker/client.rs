//! The other end of the conversation: a desk that asks the broker.

use super::serve::socket_name;
use super::wire::{Answer, Frames, LONGEST_REPLY, LONGEST_REQUEST, Reply, Request, Verb, Wish, frame, receive};
use crate::desk::{Desk, Meter};
use crate::root::Root;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Knob, Lifetime, Outcome, RestoreReport, Verdict};
use protocol::power::{Drift, PowerState};
use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::io::{self, ErrorKind, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time in which an answer must come.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time in which a broker that lives says something.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);
/// Time that each further question gets after one without an answer: callers wait for each other.
const IMPATIENCE: Duration = Duration::from_secs(1);

/// A conversation with a broker.
#[derive(Debug)]
pub struct Client {
    line: Mutex<Line>,
    wire: Arc<Wire>,
}

/// What can be used while somebody waits for an answer.
#[derive(Debug)]
struct Wire {
    socket: UnixStream,
    /// The broker has ended, or can be understood no more.
    over: AtomicBool,
}

/// Whether anybody is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// The broker answers.
    Answers,
    /// It is there, and said nothing in 10 s.
    Silent,
    /// It has hung up.
    Ended,
}

#[derive(Debug)]
struct Line {
    wire: Arc<Wire>,
    frames: Frames,
    /// Number of the last request.
    seq: u64,
    /// The last answer did not come in time.
    silent: bool,
    descriptor: Option<OwnedFd>,
    /// The list that wishes index, and its digest.
    listing: Option<(u64, Vec<Knob>)>,
}

impl Client {
    /// A client on a socket whose other end a broker has.
    pub fn new(socket: UnixStream) -> Self {
        let wire = Arc::new(Wire { socket, over: AtomicBool::new(false) });
        let (frames, line) = (Frames::default(), Arc::clone(&wire));
        Self {
            line: Mutex::new(Line { wire: line, frames, seq: 0, silent: false, descriptor: None, listing: None }),
            wire,
        }
    }

    /// A command line's way to the broker that holds the journal in this directory; `None` if there is none.
    pub fn connect(root: &Root, journal: &Path) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let connected = rustix::fs::open(journal, flags, Mode::empty()).map_err(io::Error::from).and_then(|dir| {
            // By the directory's descriptor: a socket's path may have no more than 107 bytes.
            call(&format!("/proc/self/fd/{}/{}", dir.as_raw_fd(), socket_name(root)))
        });
        match connected {
            Ok(socket) => Ok(Some(Self::new(socket))),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Waits until the broker answers at all, for longer than it may have to wait for its journal.
    pub fn greet(&self) -> Result<(), ErrorBody> {
        self.line().ask(Verb::Renew, PATIENCE * 2).map(drop)
    }

    /// Whether the broker answers now.
    pub fn life(&self) -> Life {
        match self.line().ask(Verb::Renew, SIGN_OF_LIFE) {
            Ok(_) => Life::Answers,
            Err(_) if self.is_over() => Life::Ended,
            Err(_) => Life::Silent,
        }
    }

    /// Whether the conversation has ended, and nothing will be answered any more.
    pub fn is_over(&self) -> bool {
        self.wire.over.load(Ordering::Relaxed)
    }

    /// Ends the conversation, even while somebody waits for an answer; the broker then puts the session's settings back.
    pub fn hang_up(&self) {
        self.wire.end();
    }

    /// Puts back the settings of the session only.
    pub fn end_session(&self, force: bool) -> Result<RestoreReport, ErrorBody> {
        self.put_back(Verb::Restore { session: true, force })
    }

    /// What [`Desk::restore`] would write, as lines for a shell.
    pub fn script(&self) -> Result<Vec<String>, ErrorBody> {
        match self.ask(Verb::Script)? {
            Answer::Script(lines) => Ok(lines),
            _ => Err(nonsense()),
        }
    }

    fn line(&self) -> std::sync::MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, verb: Verb) -> Result<Answer, ErrorBody> {
        self.line().ask(verb, PATIENCE)
    }

    fn done(&self, verb: Verb) -> Result<(), ErrorBody> {
        match self.ask(verb)? {
            Answer::Done => Ok(()),
            _ => Err(nonsense()),
        }
    }

    fn put_back(&self, verb: Verb) -> Result<RestoreReport, ErrorBody> {
        match self.ask(verb)? {
            Answer::Report(report) => Ok(report),
            _ => Err(nonsense()),
        }
    }
}

impl Line {
    fn ask(&mut self, verb: Verb, patience: Duration) -> Result<Answer, ErrorBody> {
        self.seq += 1;
        let request = frame(&Request { seq: self.seq, verb }).map_err(|e| lost(&e))?;
        if request.len() > LONGEST_REQUEST {
            return Err(ErrorBody::new(ErrorCode::Usage, "That is too much to be set at once.")
                .hint("Set a part of it, then the rest."));
        }
        let patience = if self.silent { patience.min(IMPATIENCE) } else { patience };
        let answer = self.send(&request, patience).and_then(|()| self.reply(Instant::now() + patience));
        match answer {
            Ok(answer) => {
                self.silent = false;
                if let Answer::Error(error) = answer { Err(error) } else { Ok(answer) }
            }
            Err(e) => {
                self.silent = e.kind() == ErrorKind::TimedOut;
                if !self.silent {
                    self.wire.end();
                }
                Err(lost(&e))
            }
        }
    }

    fn send(&mut self, request: &[u8], patience: Duration) -> io::Result<()> {
        self.descriptor = None;
        self.wire.socket.set_write_timeout(Some(patience))?;
        // If a part of it has gone out and the rest has not, nothing that follows can be understood: that is the end.
        (&self.wire.socket).write_all(request)
    }

    /// The answer to the last request. Answers that came too late for those before are dropped.
    fn reply(&mut self, deadline: Instant) -> io::Result<Answer> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            while let Some(message) = self.frames.next(LONGEST_REPLY).map_err(io::Error::other)? {
                let reply: Reply = serde_json::from_slice(&message)?;
                if reply.seq == self.seq || reply.seq == 0 {
                    return Ok(reply.answer);
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.wire.socket.set_read_timeout(Some(left))?;
            match receive(&self.wire.socket, &mut buffer) {
                Ok((0, _)) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok((n, descriptor)) => {
                    self.frames.push(buffer.get(..n).unwrap_or_default());
                    self.descriptor = descriptor.or(self.descriptor.take());
                }
                Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn list(&mut self) -> Result<PowerState, ErrorBody> {
        match self.ask(Verb::List, PATIENCE)? {
            Answer::State { state, digest } => {
                self.listing = Some((digest, state.knobs.clone()));
                Ok(*state)
            }
            _ => Err(nonsense()),
        }
    }

    /// One try: `None` if the list was not the broker's last one.
    fn set(&mut self, wanted: &[Assignment], life: Lifetime, risk: bool) -> Result<Option<Vec<Outcome>>, ErrorBody> {
        let Some((digest, knobs)) = &self.listing else { return Ok(None) };
        let found: Vec<_> = wanted.iter().map(|wish| find(knobs, wish)).collect();
        let wishes = found.iter().flatten().cloned().collect();
        let verb = Verb::Set { digest: *digest, wishes, lifetime: life, risk };
        let mut outcomes = match self.ask(verb, PATIENCE)? {
            Answer::Outcomes(outcomes) => outcomes.into_iter(),
            Answer::Stale => return Ok(None),
            _ => return Err(nonsense()),
        };
        // In the order of the wishes, those that never went among them.
        let all = found.into_iter().map(|found| found.map_or_else(|refused| Some(*refused), |_| outcomes.next()));
        all.collect::<Option<Vec<_>>>().map(Some).ok_or_else(nonsense)
    }
}

/// Where a wish stands in the list, or what is said when it does not.
fn find(knobs: &[Knob], wish: &Assignment) -> Result<Wish, Box<Outcome>> {
    let refused = |value: Option<String>, message: String| {
        let (id, wanted) = (wish.id.clone(), wish.value.clone());
        Box::new(Outcome { id, wanted, value, verdict: Verdict::Refused, message: Some(message) })
    };
    let position = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let Some((n, knob)) = knobs.iter().enumerate().find(|(_, k)| k.id == wish.id) else {
        return Err(refused(None, "there is no such setting here".into()));
    };
    let value = knob.values.iter().position(|v| *v == wish.value);
    let why = || knob.reason.clone().unwrap_or_else(|| format!("it takes: {}", knob.values.join(", ")));
    value
        .map(|value| Wish { knob: position(n), value: position(value) })
        .ok_or_else(|| refused(knob.value.clone(), why()))
}

fn lost(e: &io::Error) -> ErrorBody {
    match e.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => {
            ErrorBody::new(ErrorCode::Internal, "The broker, which changes settings, does not answer.")
                .hint("The kernel may be waiting for a device. Try again.")
        }
        _ => ErrorBody::new(ErrorCode::Internal, format!("The broker, which changes settings, has ended: {e}."))
            .hint("Its sentinel puts the settings back; `brakecheck restore` tells whether they are. Start Brakecheck again to change them."),
    }
}

/// Connects to a socket by its path. One that has too many callers waiting makes its next one wait for as long as a
/// sign of life may take.
fn call(path: &str) -> io::Result<UnixStream> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(SIGN_OF_LIFE))?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

impl Wire {
    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        // Fails when the broker has gone.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

fn nonsense() -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, "The broker gave an answer to something else.")
}

impl Desk for Client {
    fn list(&self) -> Result<PowerState, ErrorBody> {
        self.line().list()
    }

    fn set(&self, wishes: &[Assignment], lifetime: Lifetime, risk: bool) -> Result<Vec<Outcome>, ErrorBody> {
        let mut line = self.line();
        if let Some(outcomes) = line.set(wishes, lifetime, risk)? {
            return Ok(outcomes);
        }
        line.list()?;
        line.set(wishes, lifetime, risk)?.ok_or_else(nonsense)
    }

    fn confirm(&self) -> Result<(), ErrorBody> {
        self.done(Verb::Confirm)
    }

    fn restore(&self, force: bool) -> Result<RestoreReport, ErrorBody> {
        self.put_back(Verb::Restore { session: false, force })
    }

    fn end_experiment(&self, over: bool) -> Result<RestoreReport, ErrorBody> {
        self.put_back(Verb::EndExperiment { over })
    }

    fn drift(&self) -> Result<Vec<Drift>, ErrorBody> {
        match self.ask(Verb::Drift)? {
            Answer::Drift(drifts) => Ok(drifts),
            _ => Err(nonsense()),
        }
    }

    fn renew(&self) -> Result<(), ErrorBody> {
        self.done(Verb::Renew)
    }

    fn energy(&self) -> Result<Vec<Meter>, ErrorBody> {
        match self.ask(Verb::Energy)? {
            Answer::Energy(meters) => Ok(meters),
            _ => Err(nonsense()),
        }
    }

    fn open_device(&self, dev: (u32, u32), direct: bool) -> Result<OwnedFd, ErrorBody> {
        let mut line = self.line();
        let answer = line.ask(Verb::OpenDevice { major: dev.0, minor: dev.1, direct }, PATIENCE)?;
        let device = line.descriptor.take().filter(|fd| {
            let is_it = |stat: rustix::fs::Stat| {
                let block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
                block && (major(stat.st_rdev), minor(stat.st_rdev)) == dev
            };
            fstat(fd).is_ok_and(is_it)
        });
        match (answer, device) {
            (Answer::Device, Some(device)) => Ok(device),
            _ => Err(nonsense()),
        }
    }
}
