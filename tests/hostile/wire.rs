//! Bytes to a socket, and what comes back.

use crate::attack::{Attack, End, Site};
use anyhow::Result;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

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

/// Sends an attack and reads to the end. One that is not to be answered stays open in `slow`.
pub(crate) fn send(site: &Site, attack: &Attack, slow: &mut Vec<TcpStream>) -> Result<Answer> {
    let mut stream = TcpStream::connect(if attack.lan { site.lan } else { site.own })?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // Whoever is refused in the middle of what he says may find the line cut.
    if let Err(e) = stream.write_all(&attack.bytes)
        && !cut(&e)
    {
        return Err(e.into());
    }
    if attack.end == End::Never {
        // One address may have so many connections.
        if slow.len() < 20 {
            slow.push(stream);
        }
        return Ok(Answer::default());
    }
    if attack.end == End::HangsUp {
        stream.shutdown(std::net::Shutdown::Write).or_else(|e| if cut(&e) { Ok(()) } else { Err(e) })?;
    }
    let mut bytes = Vec::new();
    if let Err(e) = stream.take(MOST).read_to_end(&mut bytes)
        && !cut(&e)
    {
        return Err(e.into());
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    Ok(Answer { status, text })
}

fn cut(e: &std::io::Error) -> bool {
    matches!(e.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::NotConnected)
}
