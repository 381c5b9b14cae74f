//! Who has the settings in hand: nobody, a broker that answers, or a process that hangs.

use power::Root;
use power::broker::{Client, Life};
use power::journal::JournalError;
use power::keeper::{Keeper, KeeperError};
use protocol::error::{ErrorBody, ErrorCode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time that a broker which is just starting, or a sentinel at work, gets before it counts as in the way.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who may change settings.
#[derive(Debug)]
pub enum Hold {
    /// This process, with the journal in its own hands.
    Free(Box<Keeper>),
    /// A broker that lives.
    Broker(Client),
}

/// Why nobody may.
#[derive(Debug)]
pub enum Unheld {
    /// A process has the journal and says nothing.
    Silent(Silent),
    /// Anything else.
    Error(ErrorBody),
}

/// A process of Brakecheck that has the journal and hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silent {
    pid: u32,
}

impl Hold {
    /// Finds out, in some ten seconds at most. `journal` is the journal's directory.
    pub fn find(root: &Root, journal: &Path) -> Result<Self, Unheld> {
        let start = Instant::now();
        loop {
            match Client::connect(root, journal) {
                Ok(Some(client)) if client.life() == Life::Answers => return Ok(Self::Broker(client)),
                Err(e) if !matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Err(Unheld::Error(unreachable(&e)));
                }
                // It has just ended, or its lock tells who hangs.
                Ok(_) | Err(_) => {}
            }
            match Keeper::open(root.clone(), journal) {
                Ok(keeper) => return Ok(Self::Free(Box::new(keeper))),
                Err(KeeperError::Journal(JournalError::Busy { pid })) if start.elapsed() >= PATIENCE => {
                    return Err(Unheld::Silent(Silent { pid }));
                }
                Err(KeeperError::Journal(JournalError::Busy { .. })) => sleep(Duration::from_millis(20)),
                Err(e) => return Err(Unheld::Error(e.into())),
            }
        }
    }
}

fn unreachable(e: &std::io::Error) -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, format!("The running server's broker cannot be asked: {e}."))
        .hint("Stop the server, then try again.")
}

impl From<Unheld> for ErrorBody {
    fn from(why: Unheld) -> Self {
        match why {
            Unheld::Error(error) => error,
            Unheld::Silent(silent) => Self::new(ErrorCode::Busy, silent.words())
                .hint("`brakecheck restore` ends that process and puts everything back."),
        }
    }
}

impl Silent {
    /// Who it is and what is wrong with it, as a sentence.
    pub fn words(self) -> String {
        let line = std::fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        let who = match line.split(|&b| b == 0).nth(1) {
            Some(b"broker") => "The broker",
            Some(b"sentinel") => "The sentinel",
            _ => "Another Brakecheck",
        };
        format!("{who} (process {}) holds the settings and does not answer.", self.pid)
    }

    /// Ends it, and waits until it has ended. Whatever it was about to do is in the journal.
    pub fn end(self) -> Result<(), ErrorBody> {
        let refused = |why: &str| {
            ErrorBody::new(ErrorCode::RestoreIncomplete, format!("{} It cannot be ended: {why}.", self.words()))
                .hint("Nothing was put back. End that process, or reboot: settings do not outlive a boot.")
        };
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or_else(|| refused("it gave no number"))?;
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(rustix::io::Errno::SRCH) => return Ok(()),
            Err(e) => return Err(refused(&e.to_string())),
        };
        // Looked at once its number cannot come to mean another process any more.
        if !is_ours(self.pid) {
            return Err(refused("that number is another program's"));
        }
        match pidfd_send_signal(&pidfd, Signal::KILL) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(e) => return Err(refused(&e.to_string())),
        }
        let patience = Timespec::try_from(PATIENCE).map_err(|e| refused(&e.to_string()))?;
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&patience)) {
            Ok(1) => Ok(()),
            Ok(_) => Err(refused("the kernel keeps it, waiting for a device")),
            Err(e) => Err(refused(&e.to_string())),
        }
    }
}

/// Whether it is this program, even if its file has been replaced since it was started.
fn is_ours(pid: u32) -> bool {
    let exe = format!("/proc/{pid}/exe");
    let file = |path: &str| std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    let name = std::fs::read_link(&exe).ok();
    let name = name.as_ref().and_then(|path| path.file_name()?.to_str());
    let named = name.is_some_and(|name| name.strip_suffix(" (deleted)").unwrap_or(name) == "brakecheck");
    named || file(&exe).is_some_and(|it| Some(it) == file("/proc/self/exe"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_another_program_is_left_alone() {
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let error = Silent { pid: other.id() }.end().unwrap_err();
        assert!(error.message.contains("another program"), "{error}");
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(is_ours(std::process::id()));
        Silent { pid: 0 }.end().unwrap_err();
    }
}
