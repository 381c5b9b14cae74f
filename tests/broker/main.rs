//! The broker: what it answers to callers that mean no good, who puts settings back when somebody ends, and what the
//! server may no more once it serves.

mod callers;
mod command_line;
mod ends;
mod garbage;
mod hangs;
mod leftovers;
mod logind;
mod privileges;

use anyhow::{Context, Result, ensure};
use power::Root;
use power::broker::wire::{Frames, LONGEST_REPLY, Reply, Request, Verb, frame, receive};
use power::broker::{Client, socket_name};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use tests::{PATIENCE, Process, Tree, program, scratch};

/// A broker that has us for its server.
struct Broker {
    child: Child,
    tree: Tree,
    journal: TempDir,
}

impl Broker {
    /// Starts one, and returns the server's end of the conversation.
    fn start() -> Result<(Self, UnixStream)> {
        Self::start_with(&[])
    }

    /// The same with these in its environment.
    fn start_with(environment: &[(&str, &str)]) -> Result<(Self, UnixStream)> {
        let (tree, journal) = (Tree::laptop()?, scratch()?);
        let (ours, theirs) = UnixStream::pair()?;
        let child = Command::new(program()?)
            .envs(environment.iter().copied())
            .args(["broker", "--sysroot"])
            .arg(tree.path())
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::from(File::open(journal.path())?))
            .spawn()?;
        Ok((Self { child, tree, journal }, ours))
    }

    /// A command line's connection to it; it must have answered somebody before.
    fn call(&self) -> Result<UnixStream> {
        // By the directory's descriptor: a socket's path may have no more than 107 bytes.
        let dir = File::open(self.journal.path())?;
        let name = socket_name(&self.root()?);
        Ok(UnixStream::connect(format!("/proc/self/fd/{}/{name}", dir.as_raw_fd()))?)
    }

    fn client(&self) -> Result<Client> {
        Client::connect(&self.root()?, self.journal.path())?.context("a broker listens")
    }

    fn root(&self) -> Result<Root> {
        Ok(Root::new(self.tree.path())?)
    }

    /// Waits for its end, which nobody but its caller has brought about.
    fn ended(mut self) -> Result<Tree> {
        Process::of(self.child.id())?.ended()?;
        ensure!(self.child.wait()?.success(), "the broker failed");
        Ok(self.tree)
    }
}

/// A conversation byte by byte.
struct Talk {
    socket: UnixStream,
    frames: Frames,
}

impl Talk {
    fn on(socket: UnixStream) -> Result<Self> {
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { socket, frames: Frames::default() })
    }

    /// JSON as a message.
    fn send(&mut self, json: &str) -> Result<()> {
        let length = u32::try_from(json.len())?.to_le_bytes();
        Ok(self.socket.write_all(&[&length, json.as_bytes()].concat())?)
    }

    /// What comes next; `None` when the other side has closed.
    fn hear(&mut self) -> Result<Option<Reply>> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            if let Some(message) = self.frames.next(LONGEST_REPLY)? {
                return Ok(Some(serde_json::from_slice(&message)?));
            }
            match receive(&self.socket, &mut buffer) {
                Ok((0, _)) => return Ok(None),
                Ok((n, _)) => self.frames.push(buffer.get(..n).unwrap_or_default()),
                // Closed with something of ours unread.
                Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => return Ok(None),
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn ask(&mut self, seq: u64, verb: Verb) -> Result<Reply> {
        self.socket.write_all(&frame(&Request { seq, verb })?)?;
        self.hear()?.context("the broker has hung up")
    }
}
