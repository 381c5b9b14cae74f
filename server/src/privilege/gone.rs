//! The server's desk: its broker, and what is left to say once that has died.

use power::Root;
use power::broker::Client;
use power::desk::{Desk, Meter, Reader};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Lifetime, Outcome, RestoreReport};
use protocol::power::{Drift, PowerState};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Why nothing can be set any more.
const REASON: &str = "the process that may change settings has ended; restart Brakecheck";

/// Asks the broker; without one, settings are listed and no more.
#[derive(Debug)]
pub(super) struct Attended {
    client: Arc<Client>,
    reader: Reader,
}

impl Attended {
    /// `root` is where the broker's settings are.
    pub(super) fn new(client: Arc<Client>, root: Root) -> Self {
        Self { client, reader: Reader::new(root, REASON) }
    }

    /// The broker's answer, or `without` one if there is no broker any more.
    fn ask<T>(
        &self,
        question: impl FnOnce(&Client) -> Result<T, ErrorBody>,
        without: impl FnOnce(&Reader) -> Result<T, ErrorBody>,
    ) -> Result<T, ErrorBody> {
        let answer = question(&self.client);
        if answer.is_err() && self.client.is_over() { without(&self.reader) } else { answer }
    }
}

fn refused<T>(_: &Reader) -> Result<T, ErrorBody> {
    Err(ErrorBody::new(ErrorCode::NotPermitted, format!("Settings cannot be changed: {REASON}."))
        .hint("What was set, its sentinel puts back; `brakecheck restore` makes sure."))
}

impl Desk for Attended {
    fn list(&self) -> Result<PowerState, ErrorBody> {
        self.ask(Desk::list, Desk::list)
    }

    fn set(&self, wishes: &[Assignment], lifetime: Lifetime, risk: bool) -> Result<Vec<Outcome>, ErrorBody> {
        self.ask(|client| client.set(wishes, lifetime, risk), refused)
    }

    fn confirm(&self) -> Result<(), ErrorBody> {
        self.ask(Desk::confirm, refused)
    }

    fn restore(&self, force: bool) -> Result<RestoreReport, ErrorBody> {
        self.ask(|client| client.restore(force), refused)
    }

    fn end_experiment(&self, over: bool) -> Result<RestoreReport, ErrorBody> {
        self.ask(|desk| desk.end_experiment(over), refused)
    }

    fn drift(&self) -> Result<Vec<Drift>, ErrorBody> {
        self.ask(Desk::drift, Desk::drift)
    }

    fn renew(&self) -> Result<(), ErrorBody> {
        self.ask(Desk::renew, Desk::renew)
    }

    fn energy(&self) -> Result<Vec<Meter>, ErrorBody> {
        self.ask(Desk::energy, Desk::energy)
    }

    fn open_device(&self, dev: (u32, u32), direct: bool) -> Result<OwnedFd, ErrorBody> {
        self.ask(|client| client.open_device(dev, direct), refused)
    }
}
