//! Settings of the host, as the server offers them: asked of the desk, told to all viewers.
//!
//! [`Settings`] answers requests, and is the desk of an experiment; its [`Watch`] keeps viewers up to date while there are any, looks for
//! drift while a run is on, and says to the desk that this server lives.

mod changes;
mod request;
mod told_desk;
mod watch;

use crate::live::{Hub, Power, Seat};
use changes::Told;
use power::Root;
use power::desk::Desk;
use protocol::api::Role;
use protocol::error::ErrorBody;
use protocol::knob::RestoreReport;
use protocol::power::{Drift, PowerEvent, PowerState, RestoreRequest, SetAnswer, SetRequest};
use protocol::telemetry::Telemetry;
pub(crate) use request::{lifetime, wishes};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use watch::Bell;
pub use watch::Watch;

/// What was read longer ago is not recent any more.
const RECENT: Duration = Duration::from_secs(2);

/// The settings, and who is told of them.
#[derive(Debug)]
pub struct Settings {
    desk: Arc<dyn Desk>,
    root: Root,
    /// Viewers that see telemetry; while there are any, it is sampled.
    full: Arc<Hub<Power>>,
    /// Viewers that see all but telemetry, such as the banner.
    quiet: Arc<Hub<Power>>,
    told: Mutex<Told>,
    /// What the desk said last, and when.
    last: Mutex<Option<(Instant, PowerState)>>,
    bell: Bell,
}

impl Settings {
    /// The settings behind a desk. Nothing is read until somebody asks.
    pub fn new(desk: Arc<dyn Desk>, root: Root) -> Arc<Self> {
        let hub = || Arc::new(Hub::of(Power::default()));
        Arc::new(Self {
            desk,
            root,
            full: hub(),
            quiet: hub(),
            told: Mutex::default(),
            last: Mutex::default(),
            bell: Bell::default(),
        })
    }

    /// The stream, with or without telemetry.
    fn hub(&self, telemetry: bool) -> &Arc<Hub<Power>> {
        if telemetry { &self.full } else { &self.quiet }
    }

    /// Every knob as it is now. Viewers are told what has changed since they were told last.
    pub fn list(&self) -> Result<PowerState, ErrorBody> {
        // Held while the desk is asked, so that an older answer is not told after a newer one.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.desk.list()?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), state.clone()));
        if let Some(event) = told.news(&state) {
            self.publish(&event);
            self.bell.ring();
        }
        Ok(state)
    }

    /// Every knob as it was a moment ago: for viewers, who may ask often and must not keep the host busy.
    pub fn recent(&self) -> Result<PowerState, ErrorBody> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match last {
            Some((at, state)) if at.elapsed() < RECENT => Ok(state),
            _ => self.list(),
        }
    }

    /// The newest telemetry, while somebody watches it.
    pub fn telemetry(&self) -> Option<Telemetry> {
        self.full.telemetry()
    }

    /// Sets knobs. What is wrong with the request itself is an error, and nothing is set then.
    pub fn set(&self, request: &SetRequest) -> Result<SetAnswer, ErrorBody> {
        let state = self.list()?;
        let wishes = request::wishes(request, &state)?;
        let lifetime = request::lifetime(request)?;
        let outcomes = self.desk.set(&wishes, lifetime, request.risk);
        self.list()?;
        Ok(SetAnswer { outcomes: outcomes? })
    }

    /// Keeps what was unconfirmed.
    pub fn confirm(&self) -> Result<(), ErrorBody> {
        self.desk.confirm()?;
        self.list().map(drop)
    }

    /// Puts everything back.
    pub fn restore(&self, request: RestoreRequest) -> Result<RestoreReport, ErrorBody> {
        let report = self.desk.restore(request.force)?;
        self.list()?;
        self.publish(&PowerEvent::Restored { report: report.clone() });
        Ok(report)
    }

    /// A viewer's seat in the stream; none when there are too many. The settings are read first, so that the viewer's
    /// first snapshot has them.
    pub fn admit(&self, telemetry: bool, role: Role) -> Result<Option<Seat<Power>>, ErrorBody> {
        match role {
            Role::Operator => self.list()?,
            Role::Viewer => self.recent()?,
        };
        let seat = self.hub(telemetry).admit(role);
        self.bell.ring();
        Ok(seat)
    }

    /// Tells viewers of drift that they were not told of yet, and says whether there was any.
    fn tell_drift(&self, drifts: &[Drift]) -> bool {
        let new = self.told.lock().unwrap_or_else(PoisonError::into_inner).new_drifts(drifts.to_vec());
        let any = !new.is_empty();
        if any {
            self.publish(&PowerEvent::Drift { drifts: new });
        }
        any
    }

    fn publish(&self, event: &PowerEvent) {
        if !matches!(event, PowerEvent::Telemetry(_)) {
            self.quiet.publish(event);
        }
        self.full.publish(event);
    }

    fn viewers(&self) -> (usize, usize) {
        (self.full.audience().0, self.quiet.audience().0)
    }
}
