//! The one way in which everybody else lists and changes settings: the same questions, whether they are answered by the
//! broker or, where there is none, by reading alone.

use crate::control::{Control, Hints, controls};
use crate::host;
use crate::root::Root;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Lifetime, Outcome, RestoreReport};
use protocol::power::{Drift, PowerState};
use std::fmt::Debug;
use std::os::fd::OwnedFd;

/// What can be asked. Calls block for as long as the kernel takes; they come from threads that may wait.
pub trait Desk: Debug + Send + Sync {
    /// Every knob of the host as it is now, and whose doing each value is. Without telemetry.
    fn list(&self) -> Result<PowerState, ErrorBody>;

    /// Sets knobs, each by itself: one that fails does not keep the others. `risk` allows risky ones, which then are
    /// unconfirmed whatever `lifetime` says, unless they are an experiment's.
    fn set(&self, wishes: &[Assignment], lifetime: Lifetime, risk: bool) -> Result<Vec<Outcome>, ErrorBody>;

    /// Keeps for the session what was unconfirmed.
    fn confirm(&self) -> Result<(), ErrorBody>;

    /// Puts everything back, the settings that were to be kept included. `force` overwrites what somebody else has
    /// changed meanwhile, too.
    fn restore(&self, force: bool) -> Result<RestoreReport, ErrorBody>;

    /// Puts back what was set for an experiment; what lay below it shows again, for as long as it was to stay. `over` if
    /// it has ended or rests, and not only measures without settings of its own for now.
    fn end_experiment(&self, over: bool) -> Result<RestoreReport, ErrorBody>;

    /// What somebody else has changed of ours.
    fn drift(&self) -> Result<Vec<Drift>, ErrorBody>;

    /// Says that the caller is alive; without it for [`LEASE`], the session's settings go back.
    fn renew(&self) -> Result<(), ErrorBody>;

    /// Energy meters by name in microjoules, and each one's range, after which it starts from 0.
    fn energy(&self) -> Result<Vec<Meter>, ErrorBody>;

    /// A block device opened for reading only, by its numbers.
    fn open_device(&self, dev: (u32, u32), direct: bool) -> Result<OwnedFd, ErrorBody>;
}

/// Without a sign of life for this long, the session's settings go back.
pub const LEASE: std::time::Duration = std::time::Duration::from_secs(10);

/// One reading of an energy meter.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Meter {
    /// `package-0`, `dram`.
    pub name: String,
    /// Microjoules, from 0 to `range`.
    pub energy_uj: u64,
    /// The largest value before it starts from 0 again.
    pub range_uj: u64,
}

/// A desk without rights: it lists, and says why nothing can be set.
#[derive(Debug)]
pub struct Reader {
    root: Root,
    reason: String,
}

impl Reader {
    /// `reason` is why nothing can be set, and what to do.
    pub fn new(root: Root, reason: impl Into<String>) -> Self {
        Self { root, reason: reason.into() }
    }

    fn refused<T>(&self) -> Result<T, ErrorBody> {
        Err(ErrorBody::new(ErrorCode::NotPermitted, self.reason.clone()))
    }
}

impl Desk for Reader {
    fn list(&self) -> Result<PowerState, ErrorBody> {
        let mut knobs: Vec<_> = controls(&self.root, &Hints::default()).iter().map(Control::knob).collect();
        for knob in knobs.iter_mut().filter(|k| k.writable) {
            knob.writable = false;
            knob.reason = Some(self.reason.clone());
        }
        let daemons = host::conflicts(&self.root);
        Ok(PowerState { knobs, read_only: Some(self.reason.clone()), daemons, ..PowerState::default() })
    }

    fn set(&self, _: &[Assignment], _: Lifetime, _: bool) -> Result<Vec<Outcome>, ErrorBody> {
        self.refused()
    }

    fn confirm(&self) -> Result<(), ErrorBody> {
        self.refused()
    }

    fn restore(&self, _: bool) -> Result<RestoreReport, ErrorBody> {
        self.refused()
    }

    fn end_experiment(&self, _: bool) -> Result<RestoreReport, ErrorBody> {
        self.refused()
    }

    fn drift(&self) -> Result<Vec<Drift>, ErrorBody> {
        Ok(Vec::new())
    }

    fn renew(&self) -> Result<(), ErrorBody> {
        Ok(())
    }

    fn energy(&self) -> Result<Vec<Meter>, ErrorBody> {
        self.refused()
    }

    fn open_device(&self, _: (u32, u32), _: bool) -> Result<OwnedFd, ErrorBody> {
        self.refused()
    }
}
