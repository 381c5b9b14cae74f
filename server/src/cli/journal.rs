//! The command line's way to the settings: through the broker of a running server, or by itself.

use super::Globals;
use crate::privilege::{self, NEEDS_ROOT};
use power::Root;
use power::broker::Client;
use power::control::{Control, Hints, controls};
use power::desk::{Desk, Reader};
use power::host;
use power::journal::JournalError;
use power::keeper::{Keeper, KeeperError, Scope};
use power::profile_daemon;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Lifetime, Outcome, RestoreReport};
use protocol::power::PowerState;
use rustix::process::geteuid;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time that a server which is just starting, or a sentinel at work, gets before it counts as in the way.
const PATIENCE: Duration = Duration::from_secs(30);

/// Who answers.
#[derive(Debug)]
pub(super) enum Settings {
    /// The broker of a running server.
    Broker(Client),
    /// This process, with the journal in its own hands.
    Own(Box<Keeper>),
}

/// The settings, to be changed. `None` if there is no journal yet and none is to be made.
pub(super) fn open(globals: &Globals, make: bool) -> Result<Option<Settings>, ErrorBody> {
    let root = globals.root()?;
    if root.is_live() && !geteuid().is_root() {
        let error = ErrorBody::new(ErrorCode::NotPermitted, "Changing the host's settings needs root.");
        return Err(error.hint("Start with sudo."));
    }
    let Some(journal) = directory(globals, make)? else { return Ok(None) };
    let start = Instant::now();
    loop {
        if let Some(client) = Client::connect(&root, &journal).map_err(|e| unreachable(&e))? {
            return Ok(Some(Settings::Broker(client)));
        }
        match Keeper::open(root.clone(), &journal) {
            Ok(keeper) => return Ok(Some(Settings::Own(Box::new(keeper)))),
            Err(KeeperError::Journal(JournalError::Busy { .. })) if start.elapsed() < PATIENCE => {
                sleep(Duration::from_millis(20));
            }
            Err(e) => return Err(e.into()),
        }
    }
}

/// Every knob, and whose doing its value is as far as this user may know.
pub(super) fn list(globals: &Globals) -> Result<PowerState, ErrorBody> {
    let root = globals.root()?;
    if root.is_live() && !geteuid().is_root() {
        return Reader::new(root, NEEDS_ROOT).list();
    }
    match open(globals, false) {
        Ok(Some(settings)) => settings.list(),
        Ok(None) => Ok(found(&root)),
        Err(error) => Reader::new(root, error.message).list(),
    }
}

/// Where nothing was ever changed.
fn found(root: &Root) -> PowerState {
    let knobs = controls(root, &hints(root)).iter().map(Control::knob).collect();
    PowerState { knobs, daemons: host::conflicts(root), ..PowerState::default() }
}

/// What is known beyond the kernel's files.
fn hints(root: &Root) -> Hints {
    Hints { profile_daemon: profile_daemon::look(root), ..Hints::default() }
}

/// The journal's directory.
fn directory(globals: &Globals, make: bool) -> Result<Option<PathBuf>, ErrorBody> {
    let path = globals.state_path()?;
    if !make && !path.join("journal").exists() {
        return Ok(None);
    }
    privilege::journal(&globals.state()?).map(Some)
}

fn unreachable(e: &std::io::Error) -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, format!("The running server's broker cannot be asked: {e}."))
        .hint("Stop the server, then try again.")
}

impl Settings {
    /// Every knob.
    pub(super) fn list(&self) -> Result<PowerState, ErrorBody> {
        match self {
            Self::Broker(client) => client.list(),
            Self::Own(keeper) => Ok(keeper.list(&hints(keeper.root()))),
        }
    }

    /// Sets knobs, none of them risky.
    pub(super) fn set(&mut self, wishes: &[Assignment], lifetime: Lifetime) -> Result<Vec<Outcome>, ErrorBody> {
        match self {
            Self::Broker(client) => client.set(wishes, lifetime, false),
            Self::Own(keeper) => Ok(keeper.set(&hints(keeper.root()), wishes, lifetime, false)?),
        }
    }

    /// Puts everything back.
    pub(super) fn restore(&mut self, force: bool) -> Result<RestoreReport, ErrorBody> {
        match self {
            Self::Broker(client) => client.restore(force),
            Self::Own(keeper) => Ok(keeper.restore(Scope::All, force)),
        }
    }

    /// Puts back what was to last as long as a server, and what has had its time.
    pub(super) fn end_session(&mut self, force: bool) -> Result<RestoreReport, ErrorBody> {
        match self {
            Self::Broker(client) => client.end_session(force),
            Self::Own(keeper) => {
                let mut report = keeper.restore(Scope::Session, force);
                let expired = keeper.restore(Scope::Expired, force);
                report.items.extend(expired.items);
                report.notes.extend(expired.notes);
                Ok(report)
            }
        }
    }

    /// What putting back would write, as lines for a shell.
    pub(super) fn script(&self) -> Result<Vec<String>, ErrorBody> {
        match self {
            Self::Broker(client) => client.script(),
            Self::Own(keeper) => Ok(keeper.script()),
        }
    }
}
