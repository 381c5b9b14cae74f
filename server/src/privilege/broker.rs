//! The broker as a child of the server.

use power::Root;
use power::broker::Client;
use power::desk::Desk;
use protocol::error::{ErrorBody, ErrorCode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// Time in seconds that putting back gets at the end; the broker goes on with it alone if it takes longer.
const PATIENCE: i64 = 10;

/// A broker, and how to talk to it.
#[derive(Debug)]
pub struct Broker {
    client: Arc<Client>,
    child: Child,
}

impl Broker {
    /// Starts one for the settings below `root`. Without a second thread: the caller may want to give up its rights.
    pub fn start(root: &Root, journal: &Path) -> Result<Self, ErrorBody> {
        let failed = |e: io::Error| ErrorBody::new(ErrorCode::Internal, format!("No broker can be started: {e}."));
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = rustix::fs::open(journal, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
        let mut command = this_program("broker", root);
        // A group of its own: Ctrl-C in a terminal is meant for the server, at whose end the broker puts back.
        let child = command.stdin(OwnedFd::from(theirs)).stdout(Stdio::from(dir)).process_group(0).spawn();
        Ok(Self { client: Arc::new(Client::new(ours)), child: child.map_err(failed)? })
    }

    /// Waits until it answers.
    pub fn greet(&self) -> Result<(), ErrorBody> {
        self.client.greet()
    }

    /// Our end of the conversation.
    pub fn client(&self) -> Arc<Client> {
        Arc::clone(&self.client)
    }

    /// The way to ask it.
    pub fn desk(&self) -> Arc<dyn Desk> {
        Arc::clone(&self.client) as Arc<dyn Desk>
    }

    /// Ends the session and waits until its settings are back.
    pub fn end(mut self) {
        self.client.hang_up();
        let pid = Pid::from_child(&self.child);
        let over = pidfd_open(pid, PidfdFlags::empty()).and_then(|pidfd| {
            let patience = Timespec { tv_sec: PATIENCE, tv_nsec: 0 };
            poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&patience))
        });
        if over == Ok(1) {
            // It said by itself what there was to say.
            let _ = self.child.wait();
        } else {
            let pid = self.child.id();
            eprintln!("The broker (process {pid}) is not done with putting settings back.");
            eprintln!("If it hangs, `brakecheck restore` ends it and puts them back.");
        }
    }
}

/// The command that becomes a sentinel.
pub fn sentinel(root: &Root) -> Command {
    this_program("sentinel", root)
}

/// This very program, even if its file has been replaced meanwhile. Of the environment, only what it needs.
fn this_program(subcommand: &str, root: &Root) -> Command {
    const KEPT: [&str; 2] = ["BRAKECHECK_LOG", "DBUS_SYSTEM_BUS_ADDRESS"];
    let mut command = Command::new("/proc/self/exe");
    command.arg0("brakecheck").arg(subcommand).arg("--sysroot").arg(root.path()).env_clear();
    command.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
}
