//! The broker's language: length-prefixed JSON on a stream socket, and opened files by `SCM_RIGHTS`.
//!
//! Each message is its length as four bytes, least first, and so many bytes of JSON. Requests name knobs by id and
//! values by their position in a list that the broker gave: there is no path and no free text in the language.

use crate::desk::Meter;
use protocol::error::ErrorBody;
use protocol::knob::{Lifetime, Outcome, RestoreReport};
use protocol::power::{Drift, PowerState};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use serde::{Deserialize, Serialize};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Longest request in bytes of JSON.
pub const LONGEST_REQUEST: usize = 64 << 10;
/// Longest reply in bytes of JSON.
pub const LONGEST_REPLY: usize = 4 << 20;

/// What is asked. `seq` must be greater than that of the request before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Number of the request.
    pub seq: u64,
    /// What to do.
    pub verb: Verb,
}

/// Everything that can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Verb {
    /// Every knob and its value, with the list that [`Wish`]es index.
    List,
    /// Sets knobs.
    Set {
        /// Digest of the list that the wishes index, as [`Answer::State`] gave it.
        digest: u64,
        /// What is wanted.
        wishes: Vec<Wish>,
        /// How long it stays.
        lifetime: Lifetime,
        /// Takes the risk of risky knobs.
        risk: bool,
    },
    /// Keeps for the session what was unconfirmed.
    Confirm,
    /// Puts settings back.
    Restore {
        /// Leaves alone what is to be kept or has its own time to end.
        session: bool,
        /// Overwrites what somebody else has changed meanwhile, too.
        force: bool,
    },
    /// Puts back what was set for an experiment; what lay below it shows again.
    EndExperiment {
        /// It has ended or rests, and does not only measure without settings of its own for now.
        over: bool,
    },
    /// What `Restore` would write, as lines for a shell.
    Script,
    /// What somebody else has changed of ours.
    Drift,
    /// Says that the caller is alive.
    Renew,
    /// Energy meters.
    Energy,
    /// A block device, opened for reading only.
    OpenDevice {
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
        /// Past the page cache.
        direct: bool,
    },
}

/// One knob and the position of the value in its `values`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// Position of the knob in the list.
    pub knob: u32,
    /// Position of the value in the knob's values.
    pub value: u32,
}

/// The answer to one request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// Number of the request; 0 if that could not be read.
    pub seq: u64,
    /// The answer.
    pub answer: Answer,
}

/// What can be answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Done, nothing to tell.
    Done,
    /// To [`Verb::List`].
    State {
        /// The knobs.
        state: Box<PowerState>,
        /// Names this list in [`Verb::Set`].
        digest: u64,
    },
    /// The wishes index a list that is not the last one the broker gave: list again.
    Stale,
    /// To [`Verb::Set`].
    Outcomes(Vec<Outcome>),
    /// To [`Verb::Restore`] and [`Verb::EndExperiment`].
    Report(RestoreReport),
    /// To [`Verb::Script`].
    Script(Vec<String>),
    /// To [`Verb::Drift`].
    Drift(Vec<Drift>),
    /// To [`Verb::Energy`].
    Energy(Vec<Meter>),
    /// To [`Verb::OpenDevice`]; the descriptor comes with it.
    Device,
    /// It could not be done.
    Error(ErrorBody),
}

/// A message as it goes over the socket.
pub fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(message)?;
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    Ok([&length.to_le_bytes(), json.as_slice()].concat())
}

/// Bytes as they come, cut into messages.
#[derive(Debug, Default)]
pub struct Frames(Vec<u8>);

/// A message longer than may be: what follows cannot be made sense of.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message of {0} bytes is too long")]
pub struct TooLong(usize);

impl Frames {
    /// Adds what came.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one.
    pub fn next(&mut self, longest: usize) -> Result<Option<Vec<u8>>, TooLong> {
        let Some((head, rest)) = self.0.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*head) as usize;
        if length > longest {
            return Err(TooLong(length));
        }
        let Some(message) = rest.get(..length).map(<[u8]>::to_vec) else { return Ok(None) };
        self.0.drain(..4 + length);
        Ok(Some(message))
    }
}

/// Sends some of `bytes`, and with them a descriptor; returns how many were taken. A closed socket is an error, not a
/// signal.
pub fn send(socket: impl AsFd, bytes: &[u8], descriptor: Option<BorrowedFd<'_>>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = descriptor.map(|d| [d]);
    if let Some(descriptors) = &descriptors {
        control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    Ok(rustix::net::sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)?)
}

/// Receives some bytes, and a descriptor if one came with them. No bytes: the other side has closed.
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let rights = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(rights) => Some(rights),
        _ => None,
    });
    Ok((got.bytes, rights.flatten().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_wherever_they_are_torn() {
        let request = Request { seq: 7, verb: Verb::OpenDevice { major: 8, minor: 0, direct: true } };
        let bytes = [frame(&request).unwrap(), frame(&request).unwrap()].concat();
        for cut in 0..bytes.len() {
            let mut frames = Frames::default();
            let mut got = Vec::new();
            for part in [&bytes[..cut], &bytes[cut..]] {
                frames.push(part);
                while let Some(message) = frames.next(LONGEST_REQUEST).unwrap() {
                    got.push(serde_json::from_slice::<Request>(&message).unwrap());
                }
            }
            assert_eq!(got, [request.clone(), request.clone()]);
        }
    }

    #[test]
    fn a_long_message_is_refused_before_it_has_come() {
        let mut frames = Frames::default();
        frames.push(&u32::MAX.to_le_bytes());
        assert_eq!(frames.next(LONGEST_REQUEST), Err(TooLong(u32::MAX as usize)));
    }

    #[test]
    fn a_descriptor_comes_with_its_message() {
        let (here, there) = std::os::unix::net::UnixStream::pair().unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(send(&here, b"x", Some(null.as_fd())).unwrap(), 1);
        let (bytes, descriptor) = receive(&there, &mut [0; 8]).unwrap();
        assert_eq!(bytes, 1);
        let stat = rustix::fs::fstat(descriptor.unwrap()).unwrap();
        assert_eq!(stat.st_rdev, rustix::fs::stat("/dev/null").unwrap().st_rdev);
    }
}
