//! The settings as a desk for what runs inside the server: viewers are told what it sees and changes, and nothing is asked
//! for that it would not ask by itself.

use super::Settings;
use power::desk::{Desk, Meter};
use protocol::error::ErrorBody;
use protocol::knob::{Assignment, Lifetime, Outcome, RestoreReport};
use protocol::power::{Drift, PowerState};
use std::os::fd::OwnedFd;

impl Desk for Settings {
    fn list(&self) -> Result<PowerState, ErrorBody> {
        Self::list(self)
    }

    /// Viewers are told with the next list.
    fn set(&self, wishes: &[Assignment], lifetime: Lifetime, risk: bool) -> Result<Vec<Outcome>, ErrorBody> {
        self.desk.set(wishes, lifetime, risk)
    }

    fn confirm(&self) -> Result<(), ErrorBody> {
        self.desk.confirm()
    }

    fn restore(&self, force: bool) -> Result<RestoreReport, ErrorBody> {
        self.desk.restore(force)
    }

    fn end_experiment(&self, over: bool) -> Result<RestoreReport, ErrorBody> {
        let report = self.desk.end_experiment(over);
        self.list()?;
        report
    }

    fn drift(&self) -> Result<Vec<Drift>, ErrorBody> {
        let drifts = self.desk.drift()?;
        self.tell_drift(&drifts);
        Ok(drifts)
    }

    fn renew(&self) -> Result<(), ErrorBody> {
        self.desk.renew()
    }

    fn energy(&self) -> Result<Vec<Meter>, ErrorBody> {
        self.desk.energy()
    }

    fn open_device(&self, dev: (u32, u32), direct: bool) -> Result<OwnedFd, ErrorBody> {
        self.desk.open_device(dev, direct)
    }
}
