//! How `serve` starts: with root's rights in one process that no network reaches, and without them in this one.
//!
//! As root, the state directory is given to an ordinary user, the broker is started, and this process becomes that
//! user for good, all before it has a second thread or listens anywhere. On a recorded tree (`--sysroot`) an ordinary
//! user has a broker too, since the settings are files of his own.

mod broker;
mod closed;
mod descend;
mod gone;
mod hold;
mod leftovers;
mod state;
mod user;

pub use broker::{Broker, sentinel};
pub use hold::{Hold, Unheld};
pub use state::journal;

use crate::cli::Globals;
use crate::lock;
use crate::serve::taken;
use crate::state_dir::StateDir;
use gone::Attended;
use power::Root;
use power::desk::{Desk, Reader};
use protocol::error::{ErrorBody, ErrorCode};
use rustix::process::geteuid;
use std::path::Path;
use std::sync::Arc;

/// What a server works with, once it has no more rights than it needs.
#[derive(Debug)]
pub struct Entered {
    /// The state directory, this user's.
    pub state: StateDir,
    /// How settings are listed and changed.
    pub desk: Arc<dyn Desk>,
    broker: Option<Broker>,
}

impl Entered {
    /// Has the settings put back, and waits until they are.
    pub fn leave(self) {
        if let Some(broker) = self.broker {
            broker.end();
        }
    }
}

/// Starts the broker where there can be one, and gives up root's rights. `user` is whom the operator named. To be
/// called while this process has one thread. Where the server cannot start, what an earlier one has left is put back
/// all the same.
pub fn enter(globals: &Globals, user: Option<&str>) -> Result<Entered, ErrorBody> {
    let root = globals.root()?;
    let path = globals.state_path()?;
    if !may_change(&root) {
        return begin(root, &path, user);
    }
    if let Ok(Some(holder)) = lock::holder(&path.join("server.lock")) {
        return Err(taken(&path, &lock::LockError::Held(holder)));
    }
    leftovers::refuse_silent(&root, &path)?;
    begin(root.clone(), &path, user).inspect_err(|_| {
        // A broker that was started has done it, and this process may have no rights any more.
        if may_change(&root) {
            leftovers::put_back(&root, &path);
        }
    })
}

fn begin(root: Root, path: &Path, user: Option<&str>) -> Result<Entered, ErrorBody> {
    let (state, broker) = if geteuid().is_root() {
        let user = user::choose(user)?;
        let state = state::hand_over(path, &user)?;
        refuse_second(state.path())?;
        let broker = Broker::start(&root, &state::journal(&state)?);
        let descended = descend::descend(&user).and_then(|()| closed::refuse(state.path(), &user));
        match (descended, broker) {
            (Ok(()), broker) => (state, Some(broker)),
            (Err(error), broker) => {
                // First it puts back.
                broker.map(Broker::end).unwrap_or_default();
                return Err(error);
            }
        }
    } else {
        if let Some(user) = user {
            let error = format!("Only root can serve as another user ({user}).");
            return Err(ErrorBody::new(ErrorCode::NotPermitted, error).hint("Start with sudo, or leave --user out."));
        }
        let state = StateDir::open(path)?;
        refuse_second(state.path())?;
        let broker = if root.is_live() { None } else { Some(Broker::start(&root, &state::journal(&state)?)) };
        (state, broker)
    };
    let (desk, broker): (Arc<dyn Desk>, _) = match broker {
        None => (Arc::new(Reader::new(root, NEEDS_ROOT)), None),
        Some(started) => match started.and_then(|broker| broker.greet().map(|()| broker)) {
            Ok(broker) => {
                let desk = Arc::new(Attended::new(broker.client(), root));
                let devices = Arc::clone(&desk);
                engine::target::device::ask_for_devices(move |dev, direct| {
                    devices.open_device(dev, direct).map_err(|e| std::io::Error::other(e.message))
                });
                (desk, Some(broker))
            }
            Err(error) => {
                let reason = format!("Settings cannot be changed: {}", error.message);
                crate::terminal::say(&reason);
                (Arc::new(Reader::new(root, reason)), None)
            }
        },
    };
    Ok(Entered { state, desk, broker })
}

/// Whether this process may change the settings below `root`.
fn may_change(root: &Root) -> bool {
    !root.is_live() || geteuid().is_root()
}

/// Why nothing can be set without root.
pub const NEEDS_ROOT: &str = "needs root: start with sudo";

/// Before anything is started for it.
fn refuse_second(state: &Path) -> Result<(), ErrorBody> {
    match lock::holder(&state.join("server.lock")) {
        Ok(None) => Ok(()),
        Ok(Some(holder)) => Err(taken(state, &lock::LockError::Held(holder))),
        Err(e) => Err(taken(state, &e.into())),
    }
}
