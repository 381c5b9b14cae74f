//! Bytes to a socket, and what comes back.

use crate::attack::{Attack, End};
use crate::site::Site;
use anyhow::Result;
use std::io::{Error, ErrorKind, Read, Result as Io, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::{ClientConnection, StreamOwned};

/// Longest wait for an answer. What is only half said is never answered within it.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most that is read of an answer, in bytes.
const MOST: u64 = 1 << 20;

/// What came back.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Of HTTP; none if the connection was closed without a word.
    pub(crate) status: Option<u16>,
    pub(crate) text: String,
}

/// A connection, in the clear or encrypted.
pub(crate) enum Line {
    Clear(TcpStream),
    Encrypted(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Line {
    /// Connects to one of the listeners.
    fn to(site: &Site, lan: bool) -> Result<Self> {
        let stream = TcpStream::connect(if lan { site.lan } else { site.own })?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(match &site.tls {
            Some(tls) if lan => {
                let connection = ClientConnection::new(Arc::clone(tls), site.lan.ip().into())?;
                Self::Encrypted(Box::new(StreamOwned::new(connection, stream)))
            }
            _ => Self::Clear(stream),
        })
    }

    /// Reads how the answer begins, and says that nothing more comes. A server may drop whoever says so before.
    fn part(&mut self, bytes: &mut Vec<u8>) -> Io<()> {
        bytes.resize(16 << 10, 0);
        let len = self.read(bytes).inspect_err(|_| bytes.clear())?;
        bytes.truncate(len);
        match self {
            Self::Clear(stream) => stream.shutdown(Shutdown::Write),
            Self::Encrypted(stream) => {
                stream.conn.send_close_notify();
                stream.flush()?;
                stream.sock.shutdown(Shutdown::Write)
            }
        }
    }
}

impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> Io<usize> {
        match self {
            Self::Clear(stream) => stream.read(bytes),
            Self::Encrypted(stream) => stream.read(bytes),
        }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Io<usize> {
        match self {
            Self::Clear(stream) => stream.write(bytes),
            Self::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> Io<()> {
        match self {
            Self::Clear(stream) => stream.flush(),
            Self::Encrypted(stream) => stream.flush(),
        }
    }
}

/// Sends an attack and reads to the end. One that is not to be answered stays open in `slow`.
pub(crate) fn send(site: &Site, attack: &Attack, slow: &mut Vec<Line>) -> Result<Answer> {
    let mut line = Line::to(site, attack.lan)?;
    // Whoever is refused in the middle of what he says may find the line cut.
    if let Err(e) = line.write_all(&attack.bytes).and_then(|()| line.flush())
        && !cut(&e)
    {
        return Err(e.into());
    }
    if attack.end == End::Never {
        // One address may have so many connections.
        if slow.len() < 20 {
            slow.push(line);
        }
        return Ok(Answer::default());
    }
    let mut bytes = Vec::new();
    let read = match attack.end {
        End::HangsUp => line.part(&mut bytes),
        _ => Ok(()),
    };
    if let Err(e) = read.and_then(|()| line.take(MOST).read_to_end(&mut bytes))
        && !cut(&e)
    {
        return Err(e.into());
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    Ok(Answer { status, text })
}

fn cut(e: &Error) -> bool {
    matches!(
        e.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::NotConnected | ErrorKind::UnexpectedEof
    )
}
