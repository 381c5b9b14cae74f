//! The command line's way to the settings: through the broker of a running server, or by itself.

use super::Globals;
use super::output::say;
use crate::privilege::{self, Hold, NEEDS_ROOT, Unheld};
use crate::state_dir::StateDir;
use power::Root;
use power::broker::Client;
use power::control::{Control, Hints, controls};
use power::desk::{Desk, Reader};
use power::host;
use power::keeper::{Keeper, Scope};
use power::profile_daemon;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Lifetime, Outcome, RestoreReport};
use protocol::power::PowerState;
use rustix::process::geteuid;
use std::path::PathBuf;

/// Processes that hang which are ended one after the other: a broker, its sentinel, and one that came between.
const MOST_ENDED: u32 = 3;

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
    Ok(find(globals, make)??)
}

/// The settings, to be put back: a process that has them in hand and hangs is ended.
pub(super) fn take_over(globals: &Globals) -> Result<Option<Settings>, ErrorBody> {
    let mut ended = 0;
    loop {
        match find(globals, false)? {
            Err(Unheld::Silent(silent)) if ended < MOST_ENDED => {
                say(&format!("{} It is ended now.", silent.words()));
                silent.end()?;
                ended += 1;
            }
            found => return Ok(found?),
        }
    }
}

fn find(globals: &Globals, make: bool) -> Result<Result<Option<Settings>, Unheld>, ErrorBody> {
    let root = globals.root()?;
    if root.is_live() && !geteuid().is_root() {
        let error = ErrorBody::new(ErrorCode::NotPermitted, "Changing the host's settings needs root.");
        return Err(error.hint("Start with sudo."));
    }
    let Some(journal) = directory(globals, make)? else { return Ok(Ok(None)) };
    Ok(Hold::find(&root, &journal).map(|hold| {
        Some(match hold {
            Hold::Free(keeper) => Settings::Own(keeper),
            Hold::Broker(client) => Settings::Broker(client),
        })
    }))
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

/// The journal's directory. Where none is to be made, nothing has to be writable: settings go back all the same. One that
/// is gone although settings are noted to be changed is made anew, so that its keeper says so.
fn directory(globals: &Globals, make: bool) -> Result<Option<PathBuf>, ErrorBody> {
    if !make {
        match StateDir::find(globals.state_path()?)? {
            Some(state) if state.journal().symlink_metadata().is_ok() => return privilege::journal(&state).map(Some),
            _ if !power::journal::is_noted(&globals.root()?) => return Ok(None),
            _ => {}
        }
    }
    privilege::journal(&globals.state()?).map(Some)
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
