//! One caller of the broker. Nothing here waits: a caller that sends half a message or never reads its answer keeps
//! nobody else waiting, and is let go after a while.

use super::wire::{Answer, Frames, LONGEST_REPLY, LONGEST_REQUEST, Reply, Request, frame, send};
use protocol::error::{ErrorBody, ErrorCode};
use rustix::event::PollFlags;
use rustix::net::RecvFlags;
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Time in which an answer must be taken.
const PATIENCE: Duration = Duration::from_secs(10);
/// Read at once.
const CHUNK: usize = 16 << 10;

/// Who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// The server that this broker belongs to. What it sets lasts as long as it does.
    Server,
    /// A command line.
    CommandLine,
}

/// Values that may be asked for, as they were last told to this caller: ids, and the values of each.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) digest: u64,
    pub(super) knobs: Vec<(String, Vec<String>)>,
}

/// A caller and what is under way with it.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) caller: Caller,
    pub(super) listing: Listing,
    /// When something last came.
    pub(super) heard: Instant,
    socket: OwnedFd,
    frames: Frames,
    /// Number of the last request.
    last: u64,
    outgoing: Outgoing,
    /// No more requests are taken; closed once the last answer has gone.
    closing: bool,
}

#[derive(Debug, Default)]
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    /// Goes with the first byte.
    descriptor: Option<OwnedFd>,
    since: Option<Instant>,
}

/// What came of looking at a connection.
pub(super) enum Next {
    /// A request to be answered.
    Request(Request),
    /// Nothing whole yet.
    Wait,
    /// The caller is gone, or cannot be understood any more.
    Close,
}

impl Connection {
    /// A caller on this socket, which is made not to block.
    pub(super) fn new(socket: OwnedFd, caller: Caller) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Self {
            caller,
            listing: Listing::default(),
            heard: Instant::now(),
            socket,
            frames: Frames::default(),
            last: 0,
            outgoing: Outgoing::default(),
            closing: false,
        })
    }

    pub(super) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// What is waited for: an answer must be taken before the next request is.
    pub(super) fn interest(&self) -> PollFlags {
        if self.outgoing.bytes.is_empty() { PollFlags::IN } else { PollFlags::OUT }
    }

    /// When it is to be let go for not taking its answer.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.outgoing.since.map(|since| since + PATIENCE)
    }

    /// Takes what has come, as far as that goes without waiting.
    pub(super) fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; CHUNK];
        match rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::empty()) {
            Ok((_, 0)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((_, n)) => {
                self.heard = Instant::now();
                self.frames.push(buffer.get(..n).unwrap_or_default());
                Ok(())
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// The next request. What cannot be understood is answered here.
    pub(super) fn next(&mut self) -> Next {
        loop {
            if !self.outgoing.bytes.is_empty() {
                return Next::Wait;
            }
            if self.closing {
                return Next::Close;
            }
            let refused = match self.frames.next(LONGEST_REQUEST) {
                Ok(None) => return Next::Wait,
                Ok(Some(message)) => match serde_json::from_slice::<Request>(&message) {
                    Ok(request) if request.seq > self.last => {
                        self.last = request.seq;
                        return Next::Request(request);
                    }
                    Ok(request) => self.refuse(request.seq, "this request has been answered already"),
                    Err(e) => self.refuse(0, e),
                },
                Err(too_long) => {
                    self.closing = true;
                    self.refuse(0, too_long)
                }
            };
            if refused.is_err() {
                return Next::Close;
            }
        }
    }

    fn refuse(&mut self, seq: u64, why: impl Display) -> io::Result<()> {
        let error = ErrorBody::new(ErrorCode::Usage, format!("The broker cannot make sense of a request: {why}."));
        self.answer(seq, Answer::Error(error), None);
        self.write()
    }

    /// Puts an answer in line.
    pub(super) fn answer(&mut self, seq: u64, answer: Answer, descriptor: Option<OwnedFd>) {
        let too_much = || {
            let error = ErrorBody::new(ErrorCode::Internal, "The broker's answer is too long.");
            frame(&Reply { seq, answer: Answer::Error(error) }).unwrap_or_default()
        };
        let bytes = frame(&Reply { seq, answer }).ok().filter(|b| b.len() <= LONGEST_REPLY).unwrap_or_else(too_much);
        self.outgoing = Outgoing { bytes, sent: 0, descriptor, since: Some(Instant::now()) };
    }

    /// Sends what is in line, as far as that goes without waiting.
    pub(super) fn write(&mut self) -> io::Result<()> {
        let out = &mut self.outgoing;
        while let Some(rest) = out.bytes.get(out.sent..).filter(|rest| !rest.is_empty()) {
            match send(&self.socket, rest, out.descriptor.as_ref().map(AsFd::as_fd)) {
                Ok(n) => {
                    out.sent += n;
                    out.descriptor = None;
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.outgoing = Outgoing::default();
        Ok(())
    }
}
