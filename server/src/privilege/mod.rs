//! How `serve` starts: with root's rights in one process that no network reaches, and without them in this one.
//!
//! As root, the state directory is given to an ordinary user, the broker is started, and this process becomes that
//! user for good, all before it has a second thread or listens anywhere. On a recorded tree (`--sysroot`) an ordinary
//! user has a broker too, since the settings are files of his own.

mod broker;
mod closed;
mod descend;
mod state;
mod user;

pub use broker::{Broker, sentinel};
pub use state::journal;

use crate::cli::Globals;
use crate::lock;
use crate::serve::taken;
use crate::state_dir::StateDir;
use power::desk::{Desk, Reader};
use protocol::error::{ErrorBody, ErrorCode};
use rustix::process::geteuid;
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
/// called while this process has one thread.
pub fn enter(globals: &Globals, user: Option<&str>) -> Result<Entered, ErrorBody> {
    let root = globals.root()?;
    let path = globals.state_path()?;
    let (state, broker) = if geteuid().is_root() {
        let user = user::choose(user)?;
        let state = state::hand_over(&path, &user)?;
        refuse_second(&state)?;
        let broker = Broker::start(&root, &state::journal(&state)?);
        descend::descend(&user)?;
        closed::refuse(state.path(), &user)?;
        (state, Some(broker))
    } else {
        if let Some(user) = user {
            let error = format!("Only root can serve as another user ({user}).");
            return Err(ErrorBody::new(ErrorCode::NotPermitted, error).hint("Start with sudo, or leave --user out."));
        }
        let state = StateDir::open(&path)?;
        refuse_second(&state)?;
        let broker = if root.is_live() { None } else { Some(Broker::start(&root, &state::journal(&state)?)) };
        (state, broker)
    };
    let (desk, broker): (Arc<dyn Desk>, _) = match broker {
        None => (Arc::new(Reader::new(root, NEEDS_ROOT)), None),
        Some(started) => match started.and_then(|broker| broker.greet().map(|()| broker)) {
            Ok(broker) => {
                let desk = broker.desk();
                let devices = Arc::clone(&desk);
                engine::target::device::ask_for_devices(move |dev, direct| {
                    devices.open_device(dev, direct).map_err(|e| std::io::Error::other(e.message))
                });
                (desk, Some(broker))
            }
            Err(error) => {
                let reason = format!("Settings cannot be changed: {}", error.message);
                eprintln!("{reason}");
                (Arc::new(Reader::new(root, reason)), None)
            }
        },
    };
    Ok(Entered { state, desk, broker })
}

/// Why nothing can be set without root.
pub const NEEDS_ROOT: &str = "needs root: start with sudo";

/// Before anything is started for it.
fn refuse_second(state: &StateDir) -> Result<(), ErrorBody> {
    match lock::holder(&state.server_lock()) {
        Ok(None) => Ok(()),
        Ok(Some(holder)) => Err(taken(state, &lock::LockError::Held(holder))),
        Err(e) => Err(taken(state, &e.into())),
    }
}
