//! What a snapshot shows: the events so far, folded.

use super::hub::Stream;
use crate::runner::now;
use protocol::api::Role;
use protocol::error::ErrorBody;
use protocol::event::{Event, Snapshot};
use protocol::experiment::{ExperimentLive, TrialMark};
use protocol::sample::{Flow, SAMPLES_PER_SECOND, Sample};
use std::collections::VecDeque;

/// Samples a snapshot holds: two minutes.
const SAMPLES: usize = 120 * SAMPLES_PER_SECOND as usize;

/// Samples it holds for viewers on the network: half a minute. Each of them costs the server its snapshot's length for
/// as long as he is connected, and there may be many.
const VIEWERS_SAMPLES: usize = 30 * SAMPLES_PER_SECOND as usize;

/// The stream of `/ws/bench`: runs.
#[derive(Debug, Default)]
pub struct Bench {
    snapshot: Snapshot,
    samples: VecDeque<Sample>,
}

impl Bench {
    pub(super) fn new(server_id: String) -> Self {
        let snapshot = Snapshot { version: protocol::VERSION.into(), server_id, ..Snapshot::default() };
        Self { snapshot, samples: VecDeque::new() }
    }

    /// The snapshot of now.
    pub(super) fn now(&self, role: Role) -> Snapshot {
        let most = match role {
            Role::Operator => SAMPLES,
            Role::Viewer => VIEWERS_SAMPLES,
        };
        let skipped = self.samples.len().saturating_sub(most);
        Snapshot { samples: self.samples.iter().skip(skipped).cloned().collect(), ..self.snapshot.clone() }
    }

    /// The newest sample of the run that is on.
    pub(super) fn last_sample(&self) -> Option<&Sample> {
        self.snapshot.step.and(self.samples.back())
    }
}

impl Stream for Bench {
    type Event = Event;

    fn snapshot(&self, role: Role) -> Event {
        Event::Snapshot(Box::new(self.now(role)))
    }

    fn error(error: ErrorBody) -> Event {
        Event::Error { error }
    }

    fn is_plain(event: &Event) -> bool {
        matches!(event, Event::Sample { .. } | Event::Layout { .. } | Event::Pause { .. })
    }

    fn apply(&mut self, event: &Event) {
        let s = &mut self.snapshot;
        match event {
            Event::RunStarted { run } => {
                s.run = Some((**run).clone());
                s.step = None;
                s.layout = None;
                self.samples.clear();
            }
            Event::Layout { done, total, .. } => s.layout = Some((*done, *total)),
            Event::Pause { step, .. } | Event::WorkloadStarted { step, .. } => {
                s.step = Some(*step);
                s.layout = None;
                self.samples.clear();
            }
            Event::Sample { sample, .. } => {
                if self.samples.len() == SAMPLES {
                    self.samples.pop_front();
                }
                self.samples.push_back(without_histograms(sample));
            }
            Event::WorkloadFinished { result, .. } => {
                s.step = None;
                if let Some(run) = &mut s.run {
                    run.results.push((**result).clone());
                }
            }
            Event::RunFinished { state, error, .. } => {
                s.step = None;
                s.layout = None;
                if let Some(run) = &mut s.run {
                    run.state = *state;
                    run.error.clone_from(error);
                    run.finished_at = Some(now());
                }
            }
            Event::Runs { queue, removed } => {
                s.queue.clone_from(queue);
                if removed.is_some() && s.run.as_ref().map(|r| &r.id) == removed.as_ref() {
                    s.run = None;
                    self.samples.clear();
                }
            }
            Event::ExperimentStarted { experiment, trials } => {
                s.experiment = Some(Box::new(ExperimentLive::new((**experiment).clone(), trials.clone())));
                s.layout = None;
                self.samples.clear();
            }
            Event::ExperimentNote { experiment, text } => {
                if let Some(e) = on(&mut s.experiment, experiment) {
                    e.note = Some(text.clone());
                }
            }
            Event::ExperimentPaused { experiment, paused } => {
                if let Some(e) = on(&mut s.experiment, experiment) {
                    e.paused = *paused;
                    (e.trial, e.note) = (None, None);
                }
            }
            Event::TrialStarted { experiment, trial } => {
                s.layout = None;
                self.samples.clear();
                if let Some(e) = on(&mut s.experiment, experiment) {
                    e.trial = Some(trial.clone());
                }
            }
            Event::TrialFinished { experiment, trial } => {
                if let Some(e) = on(&mut s.experiment, experiment) {
                    // The power at idle is measured within another trial.
                    e.trial.take_if(|now| now.workload == trial.workload);
                    // What was waited for is over.
                    e.note = None;
                    e.trials.push(TrialMark::from(&**trial));
                }
            }
            Event::BlockFinished { experiment, blocks, effects, left, headline } => {
                if let Some(e) = on(&mut s.experiment, experiment) {
                    e.blocks = *blocks;
                    e.effects.clone_from(effects);
                    e.left = Some(*left);
                    e.headline.clone_from(headline);
                }
            }
            Event::ExperimentFinished { experiment, state, error, headline } => {
                s.layout = None;
                if let Some(e) = on(&mut s.experiment, experiment) {
                    e.state = *state;
                    e.error.clone_from(error);
                    e.headline.clone_from(headline);
                    (e.trial, e.left, e.paused) = (None, None, false);
                }
            }
            Event::Experiments { removed } => {
                if removed.is_some() && s.experiment.as_ref().map(|e| &e.head.id) == removed.as_ref() {
                    s.experiment = None;
                }
            }
            Event::Snapshot(_) | Event::Error { .. } => {}
        }
    }
}

/// The experiment of the snapshot, if it is this one.
fn on<'a>(shown: &'a mut Option<Box<ExperimentLive>>, id: &str) -> Option<&'a mut ExperimentLive> {
    shown.as_deref_mut().filter(|e| e.head.id == id)
}

/// A snapshot's samples are for drawing curves, and histograms would make it three times as large. Only where reads and
/// writes are mixed do they stay: the percentiles of both together cannot be had without them.
fn without_histograms(sample: &Sample) -> Sample {
    if sample.read.lat.is_some() && sample.write.lat.is_some() {
        return sample.clone();
    }
    let bare = |flow: &Flow| Flow { hist: Vec::new(), ..*flow };
    Sample { read: bare(&sample.read), write: bare(&sample.write), ..*sample }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::experiment::{Trial, TrialNow};
    use protocol::sample::SampleLatency;

    #[test]
    fn a_trial_at_rest_ends_within_another() {
        let file = crate::report::fixture::one_at_a_time();
        let id = file.experiment.id.clone();
        let mut state = Bench::new("id".into());
        let experiment = Box::new((&file.experiment).into());
        state.apply(&Event::ExperimentStarted { experiment, trials: Vec::new() });
        let now = TrialNow { block: 0, place: 1, of: 2, configuration: 0, workload: "4k-qd1".into(), stage: None };
        state.apply(&Event::TrialStarted { experiment: id.clone(), trial: now.clone() });
        let mut ended = |workload: &str| {
            let trial = Box::new(Trial { workload: workload.into(), ..file.report.trials[0].clone() });
            state.apply(&Event::TrialFinished { experiment: id.clone(), trial });
            state.now(Role::Operator).experiment.unwrap().trial
        };
        assert_eq!((ended("idle"), ended("4k-qd1")), (Some(now), None));
    }

    #[test]
    fn a_snapshot_holds_two_minutes_of_samples_and_histograms_only_of_mixed_ones() {
        let flow = || Flow { lat: Some(SampleLatency::default()), hist: vec![(1, 1)], ..Flow::default() };
        let reads = Sample { read: flow(), ..Sample::default() };
        let mixed = Sample { write: flow(), ..reads.clone() };
        let mut state = Bench::new("id".into());
        for n in 0..3000u32 {
            let sample = if n % 2 == 0 { &reads } else { &mixed };
            let sample = Box::new(Sample { t_ms: f64::from(n), ..sample.clone() });
            state.apply(&Event::Sample { run: "r".into(), sample });
        }
        let samples = state.now(Role::Viewer).samples;
        assert_eq!((samples.len(), samples[0].t_ms, samples[599].t_ms), (600, 2400.0, 2999.0));
        let samples = state.now(Role::Operator).samples;
        assert_eq!((samples.len(), samples[0].t_ms, samples[2399].t_ms), (2400, 600.0, 2999.0));
        assert!(samples[0].read.hist.is_empty() && samples[0].read.lat.is_some());
        assert_eq!((samples[1].read.hist.len(), samples[1].write.hist.len()), (1, 1));
    }
}
