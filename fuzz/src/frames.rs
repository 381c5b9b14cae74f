//! Raw bytes at an open WebSocket of a real server, and what it says before it hangs up.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Longest wait for a server that hangs up.
const PATIENCE: Duration = Duration::from_secs(20);
/// `Close`, RFC 6455, section 5.2.
const CLOSE: u8 = 8;

/// The way to a WebSocket.
#[derive(Debug, Clone)]
pub struct Door {
    address: SocketAddr,
    request: String,
}

impl Door {
    /// `shown` are lines of the head that let a client in, each with its line break.
    pub fn new(address: SocketAddr, path: &str, shown: &str) -> Self {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{shown}\r\n"
        );
        Self { address, request }
    }

    /// Opens the WebSocket and sends `bytes` and the end of all bytes. Returns the code with which the server says
    /// farewell, if it does. Panics if it does not let us in, does not hang up, or sends anything but sound frames.
    pub fn send(&self, bytes: &[u8]) -> Option<u16> {
        let mut stream = self.open();
        // It may have hung up in the middle.
        let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        let mut answer = Vec::new();
        let cut = match stream.read_to_end(&mut answer) {
            Ok(_) => false,
            Err(e) if e.kind() == ErrorKind::ConnectionReset => true,
            Err(e) => panic!("{e} after {bytes:x?}"),
        };
        farewell(&answer, cut)
    }

    /// A WebSocket that is open, with nothing of the stream read.
    pub fn open(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(self.request.as_bytes()).unwrap();
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
        stream
    }
}

/// The code of the farewell among a server's frames: 1005 (RFC 6455, section 7.4.1) for one without a code.
fn farewell(mut rest: &[u8], cut: bool) -> Option<u16> {
    while !rest.is_empty() {
        let Some((opcode, payload, after)) = frame(rest) else {
            assert!(cut, "half a frame: {rest:x?}");
            return None;
        };
        if opcode == CLOSE {
            assert!(after.is_empty(), "more after the farewell: {after:x?}");
            return Some(payload.first_chunk().map_or(1005, |code| u16::from_be_bytes(*code)));
        }
        rest = after;
    }
    None
}

/// Opcode and payload of the first frame, and what follows; `None` where it is not whole.
fn frame(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let ([first, second], rest) = bytes.split_first_chunk()?;
    // A server sends whole messages, without extensions and without a mask.
    assert!(matches!(first, 0x81 | 0x88 | 0x89 | 0x8a) && second & 0x80 == 0, "{first:x} {second:x}");
    let (length, rest) = match second {
        126 => rest.split_first_chunk().map(|(n, rest)| (u16::from_be_bytes(*n).into(), rest))?,
        127 => rest.split_first_chunk().map(|(n, rest)| (u64::from_be_bytes(*n), rest))?,
        short => (u64::from(*short), rest),
    };
    let (payload, rest) = rest.split_at_checked(usize::try_from(length).unwrap())?;
    Some((first & 0xf, payload, rest))
}
