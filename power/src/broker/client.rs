//! The other end of the conversation: a desk that asks the broker.

use super::serve::socket_name;
use super::wire::{Answer, Frames, LONGEST_REPLY, LONGEST_REQUEST, Reply, Request, Verb, Wish, frame, receive};
use crate::desk::{Desk, Meter};
use crate::root::Root;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Knob, Lifetime, Outcome, RestoreReport, Verdict};
use protocol::power::{Drift, PowerState};
use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor};
use std::io::{self, ErrorKind, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time in which an answer must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A conversation with a broker.
#[derive(Debug)]
pub struct Client(Mutex<Line>);

#[derive(Debug)]
struct Line {
    socket: UnixStream,
    frames: Frames,
    /// Number of the last request.
    seq: u64,
    descriptor: Option<OwnedFd>,
    /// The list that wishes index, and its digest.
    listing: Option<(u64, Vec<Knob>)>,
}

impl Client {
    /// A client on a socket whose other end a broker has.
    pub fn new(socket: UnixStream) -> Self {
        Self(Mutex::new(Line { socket, frames: Frames::default(), seq: 0, descriptor: None, listing: None }))
    }

    /// A command line's way to the broker that holds the journal in this directory; `None` if there is none.
    pub fn connect(root: &Root, journal: &Path) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let connected = rustix::fs::open(journal, flags, Mode::empty()).map_err(io::Error::from).and_then(|dir| {
            // By the directory's descriptor: a socket's path may have no more than 107 bytes.
            UnixStream::connect(format!("/proc/self/fd/{}/{}", dir.as_raw_fd(), socket_name(root)))
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

    /// Ends the conversation; the broker then puts the session's settings back.
    pub fn hang_up(&self) {
        // Fails when the broker has gone.
        let _ = self.line().socket.shutdown(Shutdown::Both);
    }

    /// Puts back the settings of the session only.
    pub fn end_session(&self, force: bool) -> Result<RestoreReport, ErrorBody> {
        self.put_back(true, force)
    }

    /// What [`Desk::restore`] would write, as lines for a shell.
    pub fn script(&self) -> Result<Vec<String>, ErrorBody> {
        match self.ask(Verb::Script)? {
            Answer::Script(lines) => Ok(lines),
            _ => Err(nonsense()),
        }
    }

    fn line(&self) -> std::sync::MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn put_back(&self, session: bool, force: bool) -> Result<RestoreReport, ErrorBody> {
        match self.ask(Verb::Restore { session, force })? {
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
        self.descriptor = None;
        self.socket.set_write_timeout(Some(patience)).map_err(|e| lost(&e))?;
        self.socket.write_all(&request).map_err(|e| lost(&e))?;
        match self.reply(Instant::now() + patience).map_err(|e| lost(&e))? {
            Answer::Error(error) => Err(error),
            answer => Ok(answer),
        }
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
            self.socket.set_read_timeout(Some(left))?;
            match receive(&self.socket, &mut buffer) {
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
        self.put_back(false, force)
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
