//! The crowd: sockets of viewers in one thread, which reads and throws away, or never reads.

use anyhow::{Context, Result, ensure};
use rustix::event::epoll;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;

/// Opens so many sockets, says so with a line on standard output, and stays until standard input ends; then says how
/// many frames came.
pub(crate) fn run(address: &str, number: usize, mute: bool) -> Result<()> {
    let address: SocketAddr = address.parse()?;
    let mut sockets = Vec::new();
    for n in 0..number {
        sockets.push(Socket::open(address, n, mute)?);
    }
    println!("ready");
    let frames = if mute { wait()? } else { follow(&mut sockets)? };
    println!("{frames}");
    Ok(())
}

fn wait() -> Result<u64> {
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(0)
}

/// Reads whatever comes, until standard input ends.
fn follow(sockets: &mut [Socket]) -> Result<u64> {
    let ready = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let end = u64::MAX;
    let watch = |fd: rustix::fd::BorrowedFd<'_>, n: u64| {
        epoll::add(&ready, fd, epoll::EventData::new_u64(n), epoll::EventFlags::IN)
    };
    watch(std::io::stdin().as_fd(), end)?;
    for (n, socket) in (0..).zip(&*sockets) {
        watch(socket.stream.as_fd(), n)?;
    }
    let mut events = Vec::with_capacity(256);
    let mut buffer = vec![0; 256 * 1024];
    loop {
        events.clear();
        epoll::wait(&ready, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let n = event.data.u64();
            if n == end {
                return Ok(sockets.iter().map(|s| s.frames).sum());
            }
            let socket = sockets.get_mut(usize::try_from(n)?).context("a socket of ours")?;
            socket.read(&mut buffer)?;
        }
    }
}

/// One viewer.
struct Socket {
    stream: TcpStream,
    frames: u64,
    /// Bytes of the present frame that are still to come.
    rest: u64,
    /// The beginning of a frame's head that has come so far.
    head: Vec<u8>,
}

impl Socket {
    /// Shakes hands. One address may have 256 connections, so a crowd comes from several.
    fn open(address: SocketAddr, n: usize, mute: bool) -> Result<Self> {
        let from = SocketAddr::from(([127, 0, 1, u8::try_from(n / 250 + 1)?], 0));
        let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None)?;
        rustix::net::bind(&socket, &from)?;
        rustix::net::connect(&socket, &address)?;
        let mut stream = TcpStream::from(socket);
        write!(
            stream,
            "GET /ws/bench HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )?;
        let mut head = Vec::new();
        if !mute {
            let mut reader = BufReader::with_capacity(1, &stream);
            let mut line = String::new();
            reader.read_line(&mut line)?;
            ensure!(line.contains("101"), "viewer {n} was not let in: {line}");
            while line != "\r\n" {
                line.clear();
                ensure!(reader.read_line(&mut line)? > 0, "viewer {n} was cut off");
            }
        }
        head.reserve(16);
        Ok(Self { stream, frames: 0, rest: 0, head })
    }

    /// Reads once, counts frames, and answers pings: whoever does not is taken for dead.
    fn read(&mut self, buffer: &mut [u8]) -> Result<()> {
        let len = self.stream.read(buffer)?;
        ensure!(len > 0, "the server closed a viewer's socket");
        let mut bytes = &buffer[..len];
        while !bytes.is_empty() {
            if self.rest > 0 {
                let skip = usize::try_from(self.rest)?.min(bytes.len());
                bytes = &bytes[skip..];
                self.rest -= skip as u64;
                continue;
            }
            self.head.push(bytes[0]);
            bytes = &bytes[1..];
            if let Some(length) = length(&self.head) {
                self.rest = length;
                self.frames += 1;
                // A ping of this server says nothing, so that neither must the answer.
                if self.head[0] & 0x0f == 9 {
                    self.stream.write_all(&[0x8a, 0x80, 0, 0, 0, 0])?;
                }
                self.head.clear();
            }
        }
        Ok(())
    }
}

/// Length of the frame with this head, once the head is whole (RFC 6455, 5.2; a server does not mask).
fn length(head: &[u8]) -> Option<u64> {
    let big_endian = |bytes: &[u8]| bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b));
    match *head.get(1)? & 0x7f {
        126 => Some(big_endian(head.get(2..4)?)),
        127 => Some(big_endian(head.get(2..10)?)),
        short => Some(short.into()),
    }
}
