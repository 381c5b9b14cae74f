//! The settings of an experiment: in the hands of a broker of our own, or of a server's.
//!
//! Whatever becomes of this process, they go back: what is set has a time of its own, which each change renews, and a
//! broker of our own puts it back when we are gone (its sentinel, when it is gone too). It lies over what the user has set,
//! which shows again when the experiment ends or pauses.
//! Whatever becomes of the experiment's thread, they go back when the hand is dropped.

use crate::privilege::{self, Broker, NEEDS_ROOT};
use crate::state_dir::StateDir;
use power::Root;
use power::broker::Client;
use power::desk::{Desk, LEASE, Meter, Reader};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Lifetime, Outcome, RestoreReport};
use protocol::power::{Drift, PowerState};
use rustix::process::geteuid;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Time that a broker which is just ending, or a sentinel at work, gets.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Who sets and puts back.
#[derive(Debug)]
pub struct Hand {
    desk: Arc<dyn Desk>,
    /// Nobody once all is over.
    who: Who,
    /// Whether something was set that is not back yet.
    any_set: bool,
    /// Whether risky knobs may be set.
    risk: bool,
}

#[derive(Debug)]
enum Who {
    /// A broker of our own, which is to hear from us now and then.
    Own(Broker, Pulse),
    /// That of a server, perhaps one that knows nothing of us.
    Server,
    /// Nobody: settings are only read.
    Nobody,
}

impl Hand {
    /// Takes the settings below `root` in hand, with the journal in `state`. The run lock must be held: the broker of
    /// another experiment is no server's.
    pub fn open(root: &Root, state: &StateDir) -> Result<Self, ErrorBody> {
        if root.is_live() && !geteuid().is_root() {
            let desk = Arc::new(Reader::new(root.clone(), NEEDS_ROOT));
            return Ok(Self { desk, who: Who::Nobody, any_set: false, risk: false });
        }
        let journal = privilege::journal(state)?;
        if let Some(client) = server(root, &journal)? {
            return Ok(Self { desk: Arc::new(client), who: Who::Server, any_set: false, risk: false });
        }
        let broker = Broker::start(root, &journal)?;
        broker.greet()?;
        let desk = broker.desk();
        let pulse = Pulse::start(Arc::clone(&desk))?;
        Ok(Self { desk, who: Who::Own(broker, pulse), any_set: false, risk: false })
    }

    /// Takes in hand what is behind the desk of the server that runs the experiment.
    pub fn on(desk: Arc<dyn Desk>) -> Result<Self, ErrorBody> {
        let who = if desk.list()?.read_only.is_none() { Who::Server } else { Who::Nobody };
        Ok(Self { desk, who, any_set: false, risk: false })
    }

    /// Says whether risky knobs may be set.
    pub fn take_risk(&mut self, risk: bool) {
        self.risk = risk;
    }

    /// Whether anything can be set.
    pub fn may_set(&self) -> bool {
        !matches!(self.who, Who::Nobody)
    }

    /// Every knob as it is now.
    pub fn list(&self) -> Result<PowerState, ErrorBody> {
        self.desk.list()
    }

    /// What somebody else has changed of ours.
    pub fn drift(&self) -> Result<Vec<Drift>, ErrorBody> {
        self.desk.drift()
    }

    /// Energy meters; none where they cannot be read.
    pub fn energy(&self) -> Vec<Meter> {
        self.desk.energy().unwrap_or_default()
    }

    /// Sets knobs. They go back by themselves unless set again within `time`.
    pub fn set(&mut self, wishes: &[Assignment], time: Duration) -> Result<Vec<Outcome>, ErrorBody> {
        if wishes.is_empty() {
            return Ok(Vec::new());
        }
        let lifetime = Lifetime::Experiment { seconds: u32::try_from(time.as_secs()).unwrap_or(u32::MAX).max(1) };
        self.any_set = true;
        self.desk.set(wishes, lifetime, self.risk)
    }

    /// Puts back everything that was set, and says what became of it. `over` if nothing is to be set until further notice.
    pub fn put_back(&mut self, over: bool) -> Result<RestoreReport, ErrorBody> {
        let report = match &self.who {
            Who::Own(..) | Who::Server if self.any_set => self.desk.end_experiment(over)?,
            Who::Own(..) | Who::Server | Who::Nobody => RestoreReport::default(),
        };
        self.any_set &= !over;
        Ok(report)
    }

    /// [`Hand::put_back`] for good.
    pub fn end(mut self) -> Result<RestoreReport, ErrorBody> {
        self.let_go()
    }

    fn let_go(&mut self) -> Result<RestoreReport, ErrorBody> {
        let report = self.put_back(true);
        if let Who::Own(broker, pulse) = std::mem::replace(&mut self.who, Who::Nobody) {
            pulse.end();
            broker.end();
        }
        report
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        if let Err(error) = self.let_go() {
            tracing::error!("settings of an experiment were not put back: {error}");
        }
    }
}

/// The broker of a running server, if there is one.
fn server(root: &Root, journal: &Path) -> Result<Option<Client>, ErrorBody> {
    let start = Instant::now();
    loop {
        let connected = Client::connect(root, journal).map_err(|e| unreachable(&e.to_string()))?;
        let Some(client) = connected else { return Ok(None) };
        match client.list() {
            Ok(_) => return Ok(Some(client)),
            // One that is just ending does not answer any more.
            Err(_) if start.elapsed() < PATIENCE => sleep(LOOK_EVERY),
            Err(e) => return Err(unreachable(&e.message)),
        }
    }
}

fn unreachable(why: &str) -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, format!("The running server's broker cannot be asked: {why}"))
        .hint("Stop the server, then try again.")
}

/// Tells the broker that we live, more often than it asks for.
#[derive(Debug)]
struct Pulse {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Pulse {
    fn start(desk: Arc<dyn Desk>) -> Result<Self, ErrorBody> {
        let (stop, stopped) = mpsc::channel::<()>();
        let beat = move || {
            while stopped.recv_timeout(LEASE / 4) == Err(mpsc::RecvTimeoutError::Timeout) {
                // A broker that is gone has put back; the next change finds that out.
                let _ = desk.renew();
            }
        };
        let thread = std::thread::Builder::new().name("pulse".into()).spawn(beat);
        let failed = |e| ErrorBody::new(ErrorCode::Internal, format!("No thread can be started: {e}."));
        Ok(Self { stop, thread: thread.map_err(failed)? })
    }

    fn end(self) {
        drop(self.stop);
        // It panics nowhere.
        let _ = self.thread.join();
    }
}
