//! The process that outlives the broker: it sleeps until the broker has ended, and puts back what that left changed.
//!
//! The sentinel reads from a pipe that only the broker can write to. The pipe's end without a farewell means that
//! somebody has to take over; a farewell, that nothing is left to do.

use crate::journal::JournalError;
use crate::keeper::{Keeper, KeeperError, Scope};
use crate::root::Root;
use protocol::knob::RestoreReport;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::time::{ClockId, clock_gettime};
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What the broker writes when nothing is left to do.
const FAREWELL: u8 = b'.';
/// Time that whoever else is at work on the journal gets; longer than putting back takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at a clock that goes on while the host sleeps.
const NAP: Duration = Duration::from_secs(5);

/// A sentinel, as its broker sees it.
#[derive(Debug)]
pub struct Sentinel {
    child: Child,
    pipe: PipeWriter,
    pidfd: OwnedFd,
}

impl Sentinel {
    /// Starts one. `command` is to end in [`watch`] on its standard input; `journal` becomes its standard output, so
    /// that it finds the directory whatever becomes of its name.
    pub fn start(mut command: Command, journal: BorrowedFd<'_>) -> io::Result<Self> {
        let (ear, pipe) = io::pipe()?;
        let journal = journal.try_clone_to_owned()?;
        // A group of its own: Ctrl-C in a terminal is not meant for it.
        let child = command.stdin(ear).stdout(Stdio::from(journal)).process_group(0).spawn()?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok(Self { child, pipe, pidfd })
    }

    /// Readable once it has ended.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Takes note of its end.
    pub(super) fn bury(mut self) {
        // Its exit code says nothing: it was killed.
        let _ = self.child.wait();
    }

    /// Ends it: nothing is left to do.
    pub fn dismiss(mut self) {
        // If it has gone already, that is as good.
        let _ = self.pipe.write_all(&[FAREWELL]);
        drop(self.pipe);
        let _ = self.child.wait();
    }

    /// Leaves to it what is to be put back later.
    pub fn hand_over(self) {
        drop(self.pipe);
    }
}

/// Sleeps until the other end of `pipe` has closed. Without a farewell, puts back what was set for a session, now, and
/// what was set for a time, when that is over.
pub fn watch(mut pipe: impl Read, root: &Root, journal: &Path, say: &mut dyn FnMut(&str)) -> Result<(), KeeperError> {
    settle_in();
    let mut words = Vec::new();
    // A pipe that cannot be read has ended just as well.
    let _ = pipe.read_to_end(&mut words);
    if words.contains(&FAREWELL) {
        return Ok(());
    }
    let mut keeper = open_patiently(root, journal)?;
    tell(&end_session(&mut keeper), say);
    loop {
        let Some(left) = keeper.next_expiry() else { return Ok(()) };
        let due = boottime() + left;
        // The journal is free meanwhile: a new broker, or `restore`, may want it.
        drop(keeper);
        while let Some(left) = due.checked_sub(boottime()).filter(|left| !left.is_zero()) {
            sleep(left.min(NAP));
        }
        keeper = open_patiently(root, journal)?;
        tell(&keeper.restore(Scope::Expired, false), say);
    }
}

/// Under its own name in lists of processes, having been started by way of `/proc/self/exe`; and without a way to more
/// rights than it was started with.
pub(super) fn settle_in() {
    // Where the kernel refuses, all works just the same.
    let _ = rustix::thread::set_name(c"brakecheck");
    let _ = rustix::thread::set_no_new_privs(true);
}

/// Opens the journal, waiting for a while for somebody else who is at work on it.
pub fn open_patiently(root: &Root, journal: &Path) -> Result<Keeper, KeeperError> {
    let start = Instant::now();
    loop {
        match Keeper::open(root.clone(), journal) {
            Err(KeeperError::Journal(JournalError::Busy { .. } | JournalError::Held { .. }))
                if start.elapsed() < PATIENCE =>
            {
                sleep(Duration::from_millis(20));
            }
            opened => return opened,
        }
    }
}

/// Puts back what lasts no longer than its server.
pub(super) fn end_session(keeper: &mut Keeper) -> RestoreReport {
    keeper.restore(Scope::Session, false)
}

/// Says what did not go back.
pub(super) fn tell(report: &RestoreReport, say: &mut dyn FnMut(&str)) {
    for item in report.items.iter().filter_map(|i| Some(format!("{}: {}", i.source, i.message.as_ref()?))) {
        say(&item);
    }
    report.notes.iter().for_each(|note| say(note));
}

/// Time since the host was started, sleep included.
fn boottime() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
}
