//! Experiments in the server: one at a time, never queued, steered from outside.

use super::unfinished::Unfinished;
use super::{Current, Inner, Job, Scheduler};
use crate::experiment::{Limits, Ready, Steering};
use crate::runner::now;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::experiment::ExperimentRecord;
use protocol::run::{RunId, RunState};
use std::sync::{Arc, PoisonError, mpsc};
use std::time::Duration;

/// An experiment that is on.
#[derive(Debug)]
pub(super) struct On {
    id: RunId,
    /// In words: "check on /mnt/ssd".
    pub(super) what: String,
    pub(super) steering: Steering,
    /// It pauses, and the settings are back.
    rests: bool,
}

/// How far a job of ours bears to be disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing is measured now.
    Idle,
    /// A run is on.
    Run,
    /// An experiment is on, which looks after the settings by itself.
    Experiment,
}

/// What to do while something else is on.
const WAITS: &str = "Wait until it ends, or stop it. Experiments are not queued.";

impl On {
    pub(super) fn new(record: &ExperimentRecord, steering: Steering) -> Self {
        let what = format!("{} on {}", record.spec.title(), record.target.path);
        Self { id: record.id.clone(), what, steering, rests: false }
    }
}

impl Scheduler {
    /// Begins an experiment, or goes on with one. `ready` makes it, unless something else is on.
    pub fn begin(
        self: &Arc<Self>,
        limits: Limits,
        ready: impl FnOnce() -> Result<Ready, ErrorBody>,
    ) -> Result<RunId, ErrorBody> {
        let refused = |e: ErrorBody| if e.code == ErrorCode::Busy { e.hint(WAITS) } else { e };
        self.refuse_second().map_err(refused)?;
        // Holds the run lock from here on, so that nothing else can begin.
        let ready = ready().map_err(refused)?;
        let id = ready.record().id.clone();
        let mut inner = self.inner();
        if let Some(error) = inner.refuse() {
            return Err(refused(error));
        }
        // Whoever gets the id may ask for it at once.
        self.runner.store().begin_experiment(ready.record())?;
        self.work(&mut inner, Some(Job::Experiment(Box::new(ready), limits, Steering::default())))?;
        Ok(id)
    }

    /// Goes on with the experiment that ended only because its server did; its id, if there is one. `again` makes it.
    pub fn go_on(
        self: &Arc<Self>,
        limits: Limits,
        again: impl FnOnce(&str) -> Result<Ready, ErrorBody>,
    ) -> Option<RunId> {
        let state = self.runner.state();
        let note = Unfinished::next(state, self.boot().as_deref())?;
        match self.begin(limits, || again(&note.id)) {
            Ok(id) => Some(id),
            Err(e) => {
                tracing::warn!("experiment {} is not resumed by itself: {e}", note.id);
                Unfinished::remove(state);
                None
            }
        }
    }

    fn boot(&self) -> Option<String> {
        power::host::facts(self.runner.root()).boot_id
    }

    /// Why no experiment can begin here now, if so.
    pub fn refuse_second(&self) -> Result<(), ErrorBody> {
        self.inner().refuse().map_or(Ok(()), |error| Err(error.hint(WAITS)))
    }

    /// Ends an experiment; false if it is not on here.
    pub fn stop(&self, id: &str) -> bool {
        let inner = self.inner();
        let on = inner.experiment().filter(|on| on.id == id);
        on.map(|on| {
            Unfinished::remove(self.runner.state());
            on.steering.stop();
        })
        .is_some()
    }

    /// Has an experiment pause after its trial, or go on; false if it is not on here.
    pub fn pause(&self, id: &str, paused: bool) -> bool {
        let mut inner = self.inner();
        let Some(Current::Experiment(on)) = &mut inner.current else { return false };
        if on.id != id {
            return false;
        }
        // From here on it may set at any time.
        on.rests &= paused;
        if paused {
            Unfinished::remove(self.runner.state());
        }
        on.steering.pause(paused);
        true
    }

    /// The experiment that has the settings in hand now, in words.
    pub fn changes_settings(&self) -> Option<String> {
        self.inner().experiment().filter(|on| !on.rests).map(|on| on.what.clone())
    }

    /// What is measured now.
    pub fn stage(&self) -> Stage {
        match &self.inner().current {
            Some(Current::Run(..)) => Stage::Run,
            Some(Current::Experiment(on)) if !on.rests => Stage::Experiment,
            _ => Stage::Idle,
        }
    }

    /// Stops the experiment that is on, if one is, and waits until its settings are back, for `patience` at most.
    pub fn stop_experiment(&self, patience: Duration) {
        let inner = self.inner();
        let Some(on) = inner.experiment() else { return };
        on.steering.stop();
        let id = on.id.clone();
        let lasts = |inner: &mut Inner| inner.experiment().is_some_and(|on| on.id == id);
        drop(self.changed.wait_timeout_while(inner, patience, lasts).unwrap_or_else(PoisonError::into_inner));
    }

    /// Runs it to its end; says whether runs wait.
    pub(super) fn conduct(&self, ready: Ready, limits: Limits, steering: &Steering) -> bool {
        let id = ready.record().id.clone();
        let (sender, events) = mpsc::channel();
        let mut more = None;
        let state = self.runner.state();
        let mut unfinished = Unfinished::begin(state, &id, self.boot());
        let ended = std::thread::scope(|scope| {
            // It never waits for a viewer: it only puts events into the channel.
            let run = move || ready.run(&self.runner, limits, steering, &mut |event| drop(sender.send(event)));
            let thread = std::thread::Builder::new().name("experiment".into()).spawn_scoped(scope, run);
            for event in events {
                match &event {
                    Event::BlockFinished { .. } => unfinished.got_on(state),
                    Event::ExperimentPaused { paused: false, .. } => {
                        unfinished = Unfinished::begin(state, &id, self.boot());
                    }
                    // The end of the server is no end of the experiment.
                    Event::ExperimentFinished { .. } if !self.inner().closing => Unfinished::remove(state),
                    _ => {}
                }
                self.pass_on(&event, &mut more);
            }
            let died = || ErrorBody::new(ErrorCode::Internal, "The experiment ended unexpectedly.");
            let no_thread = |e| ErrorBody::new(ErrorCode::Internal, format!("No thread can be started: {e}."));
            thread.map_err(no_thread)?.join().unwrap_or_else(|_| Err(died()))
        });
        if let (Err(error), None) = (ended, more) {
            tracing::error!("experiment {id}: {error}");
            if let Err(e) = self.runner.store().finish_experiment(&id, RunState::Failed, &now(), Some(&error), None) {
                tracing::error!("experiment {id} could not be marked as failed: {e}");
            }
            let (state, headline) = (RunState::Failed, String::new());
            let event = Event::ExperimentFinished { experiment: id, state, error: Some(error), headline };
            self.pass_on(&event, &mut more);
        }
        more.unwrap_or_else(|| self.inner().end_current())
    }

    fn pass_on(&self, event: &Event, more: &mut Option<bool>) {
        match event {
            Event::ExperimentFinished { .. } => {
                // Whoever sees the end may start the next at once, but its start must not be seen before this end.
                let mut inner = self.inner();
                *more = Some(inner.end_current());
                self.changed.notify_all();
                self.hub.publish(event);
            }
            Event::ExperimentPaused { paused, .. } => {
                let mut inner = self.inner();
                if let Some(Current::Experiment(on)) = &mut inner.current {
                    on.rests = *paused && on.steering.is_paused();
                }
                self.hub.publish(event);
            }
            _ => self.hub.publish(event),
        }
    }
}

impl Inner {
    fn experiment(&self) -> Option<&On> {
        match &self.current {
            Some(Current::Experiment(on)) => Some(on),
            _ => None,
        }
    }
}
