//! The single owner of a run.
//!
//! A run, wherever it was asked for, is one call of [`Runner::run`] or [`Runner::execute`]: it holds the run lock,
//! drives the engine on a thread of its own, stores what comes, and hands the events on in the order in which they
//! happened. Command line, WebSocket and store all consume that one stream.

mod conditions;
mod execute;
mod id;
mod recorder;

pub use conditions::{drive, plan};
pub use id::{new_id, now};

use crate::cli::Globals;
use crate::lock::{self, Holder, Lock, LockError};
use crate::state_dir::StateDir;
use crate::store::{self, Living, Store, StoreError};
use power::Root;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::run::RunRecord;
use std::path::{Path, PathBuf};

/// Everything a run needs around it.
#[derive(Debug)]
pub struct Runner {
    state: StateDir,
    root: Root,
    store: Store,
    /// Where a damaged result store was put, if one was found.
    pub put_aside: Option<PathBuf>,
}

impl Runner {
    /// Opens the store and tidies up after processes that died: their runs become `interrupted`, files they laid out
    /// are removed.
    pub fn open(globals: &Globals) -> Result<Self, ErrorBody> {
        Self::new(globals.state()?, &globals.sysroot)
    }

    /// [`Runner::open`] with the two directories it needs.
    pub fn new(state: StateDir, sysroot: &Path) -> Result<Self, ErrorBody> {
        let root = Root::new(sysroot).map_err(|e| {
            ErrorBody::new(ErrorCode::Usage, format!("--sysroot {} cannot be used: {e}.", sysroot.display()))
        })?;
        let opened = store::open(&state)?;
        let runner = Self { state, root, store: opened.store, put_aside: opened.put_aside };
        // Runs that wait belong to a server; if that is this process, it has only begun and has none.
        let server = holder(runner.state.server_lock())?.is_some_and(|h| h.pid != std::process::id());
        runner.tidy(server)?;
        Ok(runner)
    }

    /// Tidies up after processes that died meanwhile. For a server, whose own queue is left alone.
    pub fn settle(&self) -> Result<(), ErrorBody> {
        self.tidy(true)
    }

    fn tidy(&self, server: bool) -> Result<(), ErrorBody> {
        let running = holder(self.state.run_lock())?.map(|h| h.run.unwrap_or_default());
        let idle = running.is_none();
        for experiment in self.store.mark_experiments_interrupted(running.as_deref())? {
            tracing::warn!("experiment {experiment} was interrupted; its trials are kept, and it can be resumed");
        }
        for run in self.store.mark_interrupted(&Living { running, server })? {
            tracing::warn!("run {run} was interrupted; what it had measured is kept");
        }
        for path in engine::own_file::remove_leftovers(&self.state.targets()) {
            tracing::warn!("removed {}, left behind by a run that was interrupted", path.display());
        }
        if idle {
            self.store.checkpoint()?;
        }
        Ok(())
    }

    /// The directory of results, locks and registry.
    pub fn state(&self) -> &StateDir {
        &self.state
    }
    /// Where the host's settings are read.
    pub fn root(&self) -> &Root {
        &self.root
    }
    /// The result store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Takes the host's run lock for this run, or says who is at work.
    pub fn lock(&self, record: &RunRecord) -> Result<Lock, ErrorBody> {
        self.lock_for(&format!("{} on {}", record.spec.title(), record.spec.target), &record.id)
    }

    /// The same for whatever measures under this id.
    pub fn lock_for(&self, what: &str, id: &str) -> Result<Lock, ErrorBody> {
        Lock::take(&self.state.run_lock(), what, Some(id)).map_err(|e| match e {
            LockError::Held(holder) if holder.pid == 0 => busy("Another run is on."),
            LockError::Held(holder) => busy(format!("Process {} is measuring: {}.", holder.pid, holder.what)),
            LockError::Io(e) => ErrorBody::new(ErrorCode::Internal, format!("The run lock cannot be used: {e}.")),
        })
    }
}

fn holder(path: PathBuf) -> Result<Option<Holder>, StoreError> {
    lock::holder(&path).map_err(|source| StoreError::Io { path, source })
}

/// Somebody else measures; two runs at once would measure each other.
pub fn busy(message: impl Into<String>) -> ErrorBody {
    ErrorBody::new(ErrorCode::Busy, message).hint("Wait until it ends, or ask for the run to be queued.")
}
