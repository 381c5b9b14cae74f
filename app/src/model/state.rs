//! The state of the page: what a snapshot gave, and every event since.

use super::experiment::Experiment;
use super::run::{Layout, RunModel};
use protocol::error::ErrorBody;
use protocol::event::{Event, Snapshot};
use protocol::run::{RunId, RunState, RunSummary};

/// Everything the server told.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct State {
    /// Tells one start of the server from another.
    pub(crate) server_id: String,
    /// The run that is on, else the last one.
    pub(crate) run: Option<RunModel>,
    /// The experiment that is on, else the last one that ended since the server started.
    pub(crate) experiment: Option<Experiment>,
    /// Runs that wait, first first.
    pub(crate) queue: Vec<RunSummary>,
    /// The last error outside a run.
    pub(crate) error: Option<ErrorBody>,
}

/// What an event changed, so that only that is drawn again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing that shows.
    Nothing,
    /// Numbers that move: drawn with the next frame of the screen.
    Numbers,
    /// What there is to show.
    Structure,
    /// A run was joined whose earlier samples are missing here.
    Joined(RunId),
    /// The list of runs.
    List,
}

impl State {
    /// A state that shows one stored run.
    pub(crate) fn of(run: RunModel) -> Self {
        Self { run: Some(run), ..Self::default() }
    }

    /// Applies one event.
    pub(crate) fn apply(&mut self, event: Event) -> Change {
        match event {
            Event::Snapshot(snapshot) => return self.snapshot(*snapshot),
            Event::RunStarted { run } => {
                self.error = None;
                self.run = Some(RunModel::new(*run));
                return Change::List;
            }
            Event::Layout { run, done, total, bw, progress, eta_ms } => {
                if let Some(experiment) = self.experiment(&run) {
                    return experiment.laid_out(done, total);
                }
                let Some(model) = self.on(&run) else { return Change::Nothing };
                let began = model.layout.is_none();
                model.layout = Some(Layout { done, total, bw: Some(bw) });
                model.progress = progress;
                model.eta_ms = Some(eta_ms);
                return if began { Change::Structure } else { Change::Numbers };
            }
            Event::Pause { run, step, left_ms, progress, eta_ms } => {
                let Some(model) = self.on(&run) else { return Change::Nothing };
                let began = model.pause_ms.is_none();
                model.begin(step);
                model.pause_ms = Some(left_ms);
                model.progress = progress;
                model.eta_ms = Some(eta_ms);
                return if began { Change::Structure } else { Change::Numbers };
            }
            Event::WorkloadStarted { run, step, .. } => {
                let Some(model) = self.on(&run) else { return Change::Nothing };
                model.begin(step);
            }
            Event::Sample { run, sample } => {
                if let Some(experiment) = self.experiment(&run) {
                    return experiment.sample(*sample);
                }
                let Some(model) = self.on(&run) else { return Change::Nothing };
                let before = (model.step, model.layout.is_some());
                model.sample(*sample);
                return if before == (model.step, false) { Change::Numbers } else { Change::Structure };
            }
            Event::WorkloadFinished { run, result } => {
                let Some(model) = self.on(&run) else { return Change::Nothing };
                model.finish_step(*result);
            }
            Event::RunFinished { run, state, error } => {
                let Some(model) = self.on(&run) else { return Change::List };
                model.record.state = state;
                model.record.error = error;
                model.finish();
                return Change::List;
            }
            Event::Runs { queue, removed } => {
                self.queue = queue;
                let gone = |m: &RunModel| Some(&m.record.id) == removed.as_ref() && m.record.state.ended();
                if self.run.as_ref().is_some_and(gone) {
                    self.run = None;
                }
                return Change::List;
            }
            Event::Error { error } => self.error = Some(error),
            other => return Experiment::apply(&mut self.experiment, other),
        }
        Change::Structure
    }

    fn snapshot(&mut self, snapshot: Snapshot) -> Change {
        let Snapshot { server_id, run, step, samples, layout, queue, version: _, experiment } = snapshot;
        let before = self.run.take();
        let on = run.as_ref().is_some_and(|r| r.state == RunState::Running);
        // Samples and layout are of what is on, and only one thing is.
        let (of_run, of_experiment) = if on { (samples, Vec::new()) } else { (Vec::new(), samples) };
        self.experiment = experiment.map(|live| Experiment::new(*live, layout.filter(|_| !on), of_experiment));
        self.server_id = server_id;
        self.queue = queue;
        let Some(record) = run else { return Change::List };
        let mut model = RunModel::new(record);
        // Curves of the same run that are already here stay; the snapshot brings only the running step's.
        let known = before.filter(|b| b.record.id == model.record.id);
        if let Some(before) = &known {
            model.tracks.clone_from(&before.tracks);
            model.progress = before.progress;
            model.eta_ms = before.eta_ms;
        }
        if model.record.state == RunState::Running {
            model.step = step;
            model.layout = layout.map(|(done, total)| Layout { done, total, bw: None });
            let laying_out = model.layout;
            for sample in of_run {
                model.sample(sample);
            }
            if laying_out.is_some() {
                model.layout = laying_out;
            }
        } else {
            model.finish();
        }
        let id = model.record.id.clone();
        self.run = Some(model);
        Change::Joined(id)
    }

    /// The run that is shown, if it is this one.
    fn on(&mut self, id: &str) -> Option<&mut RunModel> {
        self.run.as_mut().filter(|m| m.record.id == id)
    }

    /// The experiment that is shown, if it is this one.
    fn experiment(&mut self, id: &str) -> Option<&mut Experiment> {
        self.experiment.as_mut().filter(|e| e.live.head.id == id)
    }

    /// Whether a run is on.
    pub(crate) fn running(&self) -> bool {
        self.run.as_ref().is_some_and(|m| m.record.state == RunState::Running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::fixture;
    use protocol::error::ErrorCode;
    use protocol::run::RunRecord;
    use protocol::units::{Bytes, BytesPerSecond};

    fn started() -> State {
        let mut state = State::default();
        state.apply(Event::RunStarted { run: Box::new(fixture::record(2)) });
        state
    }
    fn sample(step: u32, i: u32) -> Event {
        Event::Sample { run: "r1".into(), sample: Box::new(fixture::sample(step, i)) }
    }
    fn points(state: &State) -> usize {
        state.run.as_ref().unwrap().tracks[0].points().len()
    }

    #[test]
    fn a_run_is_followed_from_layout_to_end() {
        let mut state = started();
        let layout = |done| Event::Layout {
            run: "r1".into(),
            done: Bytes(done),
            total: Bytes(100),
            bw: BytesPerSecond(5.0),
            progress: 0.1,
            eta_ms: 900.0,
        };
        assert_eq!((state.apply(layout(10)), state.apply(layout(20))), (Change::Structure, Change::Numbers));
        assert!((state.run.as_ref().unwrap().progress - 0.1).abs() < 1e-9);
        state.apply(Event::WorkloadStarted { run: "r1".into(), step: 0, label: "x".into() });
        assert_eq!(state.apply(sample(0, 1)), Change::Numbers);
        state.apply(Event::WorkloadFinished { run: "r1".into(), result: Box::new(fixture::result(0, 5.0)) });
        assert_eq!(state.apply(sample(1, 1)), Change::Structure);
        let error = ErrorBody::new(ErrorCode::RunFailed, "device lost");
        state.apply(Event::RunFinished { run: "r1".into(), state: RunState::Failed, error: Some(error.clone()) });
        let model = state.run.as_ref().unwrap();
        assert_eq!((model.record.state, &model.record.error), (RunState::Failed, &Some(error)));
        assert!(!state.running() && model.reading().is_none() && model.record.results.len() == 1);
    }

    #[test]
    fn events_of_another_run_change_nothing() {
        let mut state = started();
        let before = state.clone();
        let other = Event::Sample { run: "r2".into(), sample: Box::new(fixture::sample(0, 1)) };
        assert_eq!(state.apply(other), Change::Nothing);
        assert_eq!(state, before);
    }

    #[test]
    fn a_snapshot_after_a_gap_keeps_the_curve_and_adds_what_was_missed() {
        let mut state = started();
        (1..=5).for_each(|i| drop(state.apply(sample(0, i))));
        let snapshot = Snapshot {
            run: Some(fixture::record(2)),
            step: Some(0),
            samples: (4..=9).map(|i| fixture::sample(0, i)).collect(),
            ..Snapshot::default()
        };
        assert_eq!(state.apply(Event::Snapshot(Box::new(snapshot))), Change::Joined("r1".into()));
        assert_eq!(points(&state), 9);
        assert!(state.running());
    }

    #[test]
    fn a_snapshot_of_a_restarted_server_without_runs_shows_none() {
        let mut state = started();
        state.apply(Event::Snapshot(Box::new(Snapshot { server_id: "new".into(), ..Snapshot::default() })));
        assert_eq!((state.run.is_none(), state.server_id.as_str()), (true, "new"));
    }

    #[test]
    fn an_experiment_is_followed_from_its_layout_to_its_end() {
        use crate::model::experiment::fixture::{WORKLOADS, effect, head, left, now, trial};
        use protocol::experiment::Finding;
        let id = || "e1".to_owned();
        let mut state = started();
        let start = Event::ExperimentStarted { experiment: Box::new(head()), trials: vec![] };
        assert_eq!(state.apply(start), Change::List);
        let layout = |done| {
            let (total, bw) = (Bytes(100), BytesPerSecond(5.0));
            Event::Layout { run: id(), done: Bytes(done), total, bw, progress: 0.1, eta_ms: 9.0 }
        };
        let changes = [layout(10), layout(10), layout(11)].map(|e| state.apply(e));
        assert_eq!(changes, [Change::Structure, Change::Nothing, Change::Structure]);
        state.apply(Event::TrialStarted { experiment: id(), trial: now(0, 1, WORKLOADS[0]) });
        let of_trial = |i| {
            let sample = protocol::sample::Sample { eta_ms: 1950.0, ..fixture::sample(0, i) };
            Event::Sample { run: id(), sample: Box::new(sample) }
        };
        assert_eq!([of_trial(1), of_trial(2)].map(|e| state.apply(e)), [Change::Numbers, Change::Numbers]);
        let e = state.experiment.as_ref().unwrap();
        let model = e.trial.as_ref().unwrap();
        assert_eq!((e.layout, model.tracks[0].points().len()), (None, 2));
        assert_eq!(model.groups[0].label, "4k-qd1 \u{b7} cpu.turbo=off");
        assert!((model.groups[0].pass_seconds() - 2.0).abs() < 1e-9);
        assert!(points(&state) == 0, "the samples are not of the run");
        let void = trial(0, 0, 1, WORKLOADS[0], Some("I/O error"));
        state.apply(Event::TrialFinished { experiment: id(), trial: Box::new(void) });
        let effects = vec![effect(WORKLOADS[0], -3.0, None, Finding::Undecided)];
        // The curve stays until the next trial has a sample.
        state.apply(Event::TrialStarted { experiment: id(), trial: now(0, 2, WORKLOADS[0]) });
        let shown = |s: &State| s.experiment.as_ref().unwrap().trial.as_ref().unwrap().tracks[0].points().len();
        assert_eq!(shown(&state), 2);
        state.apply(of_trial(1));
        assert_eq!(shown(&state), 1);
        let headline = || "Nothing can be said yet.".to_owned();
        state.apply(Event::BlockFinished { experiment: id(), blocks: 1, effects, left: left(), headline: headline() });
        let paused = |paused| Event::ExperimentPaused { experiment: id(), paused };
        state.apply(paused(true));
        let live = &state.experiment.as_ref().unwrap().live;
        assert_eq!((live.trials.len(), live.effects.len(), live.blocks, live.paused), (1, 1, 1, true));
        state.apply(paused(false));
        let other = Event::ExperimentPaused { experiment: "e2".into(), paused: true };
        assert_eq!(state.apply(other), Change::Nothing);
        let end =
            Event::ExperimentFinished { experiment: id(), state: RunState::Done, error: None, headline: headline() };
        assert_eq!(state.apply(end), Change::List);
        assert!(!state.experiment.as_ref().unwrap().on() && state.running());
        assert_eq!(state.apply(Event::Experiments { removed: Some(id()) }), Change::List);
        assert!(state.experiment.is_none());
    }

    #[test]
    fn a_snapshot_in_the_middle_of_a_trial_brings_its_curve() {
        let mut state = State::default();
        let snapshot = Snapshot {
            run: Some(RunRecord { state: RunState::Done, ..fixture::record(1) }),
            experiment: Some(Box::new(crate::model::experiment::fixture::live())),
            samples: (1..=3).map(|i| fixture::sample(0, i)).collect(),
            ..Snapshot::default()
        };
        state.apply(Event::Snapshot(Box::new(snapshot)));
        let e = state.experiment.as_ref().unwrap();
        assert!(e.on() && !state.running());
        assert_eq!((e.trial.as_ref().unwrap().tracks[0].points().len(), points(&state)), (3, 0));
    }

    #[test]
    fn a_removed_run_is_no_longer_shown_but_a_running_one_is() {
        let mut state = started();
        let removed = || Event::Runs { queue: vec![], removed: Some("r1".into()) };
        state.apply(removed());
        assert!(state.run.is_some());
        state.apply(Event::RunFinished { run: "r1".into(), state: RunState::Done, error: None });
        state.apply(removed());
        assert!(state.run.is_none());
    }
}
