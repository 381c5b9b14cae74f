//! A state and the two signals that say when to look at it again.

use crate::model::{Change, Experiment, RunModel, State};
use leptos::prelude::*;

/// What a view reads: live, stored or planned, all alike. Copies refer to the same state.
///
/// The state itself is no signal: at 20 events a second most of the page must not even be asked whether it changed.
#[derive(Clone, Copy)]
pub(crate) struct Handle {
    state: StoredValue<State>,
    structure: RwSignal<u64>,
    numbers: RwSignal<u64>,
    frame_asked: StoredValue<bool>,
    /// Which run of the state is read.
    of: fn(&State) -> Option<&RunModel>,
}

impl Handle {
    /// A handle to this state.
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: StoredValue::new(state),
            structure: RwSignal::new(0),
            numbers: RwSignal::new(0),
            frame_asked: StoredValue::new(false),
            of: |s| s.run.as_ref(),
        }
    }

    /// The same state, of which the experiment's trial is read as a run.
    pub(crate) fn trial(self) -> Self {
        Self { of: |s| s.experiment.as_ref()?.trial.as_ref(), ..self }
    }

    /// Changes the state; what depends on it is drawn again, numbers not more than once per frame of the screen.
    pub(crate) fn update(self, change: impl FnOnce(&mut State) -> Change) -> Change {
        let Some(change) = self.state.try_update_value(change) else { return Change::Nothing };
        match change {
            Change::Nothing => {}
            Change::Numbers => self.ask_frame(),
            _ => {
                let _ = self.structure.try_update(|n| *n += 1);
                self.ask_frame();
            }
        }
        change
    }

    fn ask_frame(self) {
        if self.frame_asked.try_get_value() == Some(false) {
            self.frame_asked.set_value(true);
            request_animation_frame(move || {
                self.frame_asked.try_set_value(false);
                let _ = self.numbers.try_update(|n| *n += 1);
            });
        }
    }

    /// Reads the state; again when its structure changes.
    pub(crate) fn structure<R>(self, read: impl FnOnce(&State) -> R) -> R {
        self.structure.track();
        self.state.with_value(read)
    }

    /// Reads the run; again when its structure changes. None when there is no run.
    pub(crate) fn run<R>(self, read: impl FnOnce(&RunModel) -> R) -> Option<R> {
        self.structure(|s| (self.of)(s).map(read))
    }

    /// Reads the experiment; again when its structure changes. None when there is none.
    pub(crate) fn experiment<R>(self, read: impl FnOnce(&Experiment) -> R) -> Option<R> {
        self.structure(|s| s.experiment.as_ref().map(read))
    }

    /// Reads the run; again with every frame of the screen in which its numbers changed.
    pub(crate) fn numbers<R>(self, read: impl FnOnce(&RunModel) -> R) -> Option<R> {
        self.numbers.track();
        self.run(read)
    }

    /// Reads the run without following it.
    pub(crate) fn once<R>(self, read: impl FnOnce(&RunModel) -> R) -> Option<R> {
        self.state.try_with_value(|s| (self.of)(s).map(read)).flatten()
    }
}
