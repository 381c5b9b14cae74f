//! The state of an experiment: what a snapshot gave, and every event since.

use crate::model::{Change, RunModel};
use protocol::event::Event;
use protocol::experiment::{ExperimentLive, TrialMark, TrialNow};
use protocol::plan::RunSpec;
use protocol::run::{RunId, RunState};
use protocol::sample::Sample;
use protocol::units::{Bytes, Micros, Seconds};
use protocol::workload::{Rw, Workload};

/// One experiment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Experiment {
    /// As the server tells it.
    pub(crate) live: ExperimentLive,
    /// The layout of its file while that is on: written so far, to be written.
    pub(crate) layout: Option<(Bytes, Bytes)>,
    /// The trial that is on, else the last one, as a run of one step: its curve is drawn like any other.
    pub(crate) trial: Option<RunModel>,
    /// The trial that has begun and has no sample yet: until then the curve before it stays.
    coming: Option<RunModel>,
}

impl Experiment {
    /// As a snapshot tells it, with the samples of its running trial.
    pub(crate) fn new(live: ExperimentLive, layout: Option<(Bytes, Bytes)>, samples: Vec<Sample>) -> Self {
        let mut experiment = Self { live, layout: None, trial: None, coming: None };
        if !experiment.on() {
            return experiment;
        }
        experiment.layout = layout;
        if let Some(now) = &experiment.live.trial {
            experiment.trial = Some(experiment.begin(now));
            for sample in samples {
                experiment.sample(sample);
            }
        }
        experiment
    }

    /// Whether it is on; also while it pauses.
    pub(crate) fn on(&self) -> bool {
        self.live.state == RunState::Running
    }

    /// Applies one event of an experiment to what is shown.
    pub(crate) fn apply(shown: &mut Option<Self>, event: Event) -> Change {
        let event = match event {
            Event::ExperimentStarted { experiment, trials } => {
                *shown = Some(Self::new(ExperimentLive::new(*experiment, trials), None, Vec::new()));
                return Change::List;
            }
            Event::Experiments { removed } => {
                let gone = |e: &Self| Some(&e.live.head.id) == removed.as_ref() && !e.on();
                if shown.as_ref().is_some_and(gone) {
                    *shown = None;
                }
                return Change::List;
            }
            other => other,
        };
        let Some(e) = shown.as_mut().filter(|e| of(&event) == Some(&e.live.head.id)) else { return Change::Nothing };
        e.follow(event)
    }

    fn follow(&mut self, event: Event) -> Change {
        let live = &mut self.live;
        match event {
            Event::ExperimentNote { text, .. } => live.note = Some(text),
            Event::ExperimentPaused { paused, .. } => {
                live.paused = paused;
                live.trial = None;
                live.note = None;
            }
            Event::TrialStarted { trial, .. } => {
                self.coming = Some(self.begin(&trial));
                self.layout = None;
                self.live.trial = Some(trial);
            }
            Event::TrialFinished { trial, .. } => {
                // The power at idle is measured within another trial.
                live.trial.take_if(|now| now.workload == trial.workload);
                // What was waited for is over.
                live.note = None;
                live.trials.push(TrialMark::from(&*trial));
            }
            Event::BlockFinished { blocks, effects, left, headline, .. } => {
                (live.blocks, live.effects, live.left, live.headline) = (blocks, effects, Some(left), headline);
            }
            Event::ExperimentFinished { state, error, headline, .. } => {
                (live.state, live.error, live.headline) = (state, error, headline);
                (live.trial, live.left, live.paused) = (None, None, false);
                (self.trial, self.coming, self.layout) = (None, None, None);
                return Change::List;
            }
            _ => return Change::Nothing,
        }
        Change::Structure
    }

    /// The layout of its file goes on.
    pub(crate) fn laid_out(&mut self, done: Bytes, total: Bytes) -> Change {
        let percent = |(done, total): (Bytes, Bytes)| done.0 * 100 / total.0.max(1);
        let before = self.layout.replace((done, total)).map(percent);
        if before == Some(percent((done, total))) { Change::Nothing } else { Change::Structure }
    }

    /// Adds one interval to the running trial.
    pub(crate) fn sample(&mut self, sample: Sample) -> Change {
        if let Some(coming) = self.coming.take() {
            self.trial = Some(coming);
        }
        let Some(trial) = &mut self.trial else { return Change::Nothing };
        if let Some(group) = trial.groups.first_mut().filter(|_| trial.step.is_none()) {
            // The stream names the workload only; how long it lasts and what it does, the first sample tells.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates")]
            let whole = Micros(((sample.t_ms + sample.eta_ms) * 1e3) as u64);
            group.workload.runtime = Seconds(whole);
            group.workload.rw = match (sample.read.ios, sample.write.ios) {
                (0, 1..) => Rw::RandWrite,
                (1.., 1..) => Rw::RandRw,
                _ => Rw::RandRead,
            };
        }
        trial.sample(sample);
        Change::Numbers
    }

    fn begin(&self, now: &TrialNow) -> RunModel {
        let head = &self.live.head;
        let name = head.configurations.get(now.configuration as usize).map_or("", |c| c.name.as_str());
        let name = Some(format!("{} \u{b7} {name}", now.workload));
        let spec = RunSpec::of_workloads("", &[Workload { name, ..Workload::new(Rw::RandRead) }], 1);
        let mut trial = RunModel::planned(spec, None, None);
        trial.record.id.clone_from(&head.id);
        trial.record.state = RunState::Running;
        trial
    }
}

/// The experiment that an event is about.
fn of(event: &Event) -> Option<&RunId> {
    match event {
        Event::ExperimentNote { experiment, .. }
        | Event::ExperimentPaused { experiment, .. }
        | Event::TrialStarted { experiment, .. }
        | Event::TrialFinished { experiment, .. }
        | Event::BlockFinished { experiment, .. }
        | Event::ExperimentFinished { experiment, .. } => Some(experiment),
        _ => None,
    }
}
