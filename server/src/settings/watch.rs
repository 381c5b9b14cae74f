//! The thread that keeps viewers up to date and says to the desk that this server lives.
//!
//! It sleeps for as long as nobody watches, nothing is changed and no run is on: a measuring tool that wakes up often
//! would keep the processor from the very idle states it is to measure.

use super::Settings;
use super::changes::Told;
use crate::scheduler::Stage;
use power::telemetry::{Options, Sampler};
use protocol::power::PowerEvent;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Telemetry is told this often.
const TELEMETRY: Duration = Duration::from_millis(200);
/// What is ours is looked at this often while somebody wants to know: drift is told within a second.
const DRIFT: Duration = Duration::from_millis(500);
/// Everything is listed anew this often while somebody watches.
const LIST: Duration = Duration::from_secs(5);
/// A sign of life is given this often while something of ours is in force; the desk waits five times as long.
const RENEW: Duration = Duration::from_secs(2);
/// Nothing of the above is due; whether a run has begun is looked at this often.
const IDLE: Duration = Duration::from_secs(1);

/// Wakes the thread up, or ends it.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: Mutex<Rung>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Rung {
    wake: bool,
    stop: bool,
}

impl Bell {
    /// Something is to be done: a viewer came, a setting was made.
    pub(super) fn ring(&self) {
        self.rung().wake = true;
        self.changed.notify_all();
    }

    fn stop(&self) {
        self.rung().stop = true;
        self.changed.notify_all();
    }

    fn rung(&self) -> MutexGuard<'_, Rung> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it rings, for `limit` at most. False when it is over.
    fn wait(&self, limit: Duration) -> bool {
        let (mut rung, _) = self
            .changed
            .wait_timeout_while(self.rung(), limit, |r| !r.wake && !r.stop)
            .unwrap_or_else(PoisonError::into_inner);
        rung.wake = false;
        !rung.stop
    }
}

/// The running thread; ended when dropped.
#[derive(Debug)]
pub struct Watch {
    settings: Arc<Settings>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts it. `stage` says what is measured.
    pub fn start(settings: Arc<Settings>, stage: impl Fn() -> Stage + Send + 'static) -> std::io::Result<Self> {
        let theirs = Arc::clone(&settings);
        let thread = std::thread::Builder::new().name("settings".into()).spawn(move || watch(&theirs, &stage))?;
        Ok(Self { settings, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.settings.bell.stop();
        if self.thread.take().is_some_and(|t| t.join().is_err()) {
            tracing::error!("the thread that watches the settings failed");
        }
    }
}

/// When each thing was done last.
#[derive(Debug, Default)]
struct Done {
    renew: Option<Instant>,
    drift: Option<Instant>,
    list: Option<Instant>,
}

fn watch(settings: &Settings, stage: &dyn Fn() -> Stage) {
    let mut done = Done::default();
    let mut sampler = None;
    let mut pause = IDLE;
    while settings.bell.wait(pause) {
        let (full, quiet) = settings.viewers();
        let watched = full + quiet > 0;
        let (changed, unconfirmed) = settings.told(|t| (t.is_changed(), t.is_unconfirmed()));
        if changed && due(&mut done.renew, RENEW) {
            complain(settings.desk.renew());
        }
        // An experiment looks after each trial; a look in the middle of one would only disturb it.
        let looks = stage() != Stage::Experiment;
        if looks && changed && (watched || stage() == Stage::Run) && due(&mut done.drift, DRIFT) {
            look_for_drift(settings, unconfirmed);
        }
        if looks && watched && due(&mut done.list, LIST) {
            complain(settings.list());
        }
        if full > 0 {
            // Reading a drive's sensor wakes the drive.
            let poll_drive_sensors = stage() == Stage::Idle;
            let fresh = || Sampler::new(settings.root.clone(), Options { poll_drive_sensors });
            let sampler = sampler.get_or_insert_with(fresh);
            sampler.poll_drive_sensors(poll_drive_sensors);
            let meters = settings.desk.energy().ok();
            let sample = sampler.sample(meters.as_deref());
            settings.full.publish(&PowerEvent::Telemetry(Box::new(sample)));
        } else {
            sampler = None;
        }
        pause = if full > 0 {
            TELEMETRY
        } else if changed {
            DRIFT
        } else {
            IDLE
        };
    }
}

/// Whether something is due; if so, it counts as done now.
fn due(last: &mut Option<Instant>, every: Duration) -> bool {
    let due = last.is_none_or(|at| at.elapsed() >= every);
    if due {
        *last = Some(Instant::now());
    }
    due
}

/// What fell back by itself, and what somebody else changed, is told.
fn look_for_drift(settings: &Settings, unconfirmed: bool) {
    let any = match settings.desk.drift() {
        Ok(drifts) => settings.tell_drift(&drifts),
        Err(e) => return tracing::warn!("{e}"),
    };
    if any || unconfirmed {
        complain(settings.list());
    }
}

fn complain<T>(result: Result<T, protocol::error::ErrorBody>) {
    if let Err(e) = result {
        tracing::warn!("{e}");
    }
}

impl Settings {
    fn told<T>(&self, f: impl FnOnce(&mut Told) -> T) -> T {
        f(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
