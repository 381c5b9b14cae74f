//! Block after block, until every knob has its verdict or the blocks run out.

use super::guard::{Guard, Void};
use super::hand::Hand;
use super::measure::Bench;
use super::rehearse::bring;
use super::settle;
use super::steering::Steering;
use super::unrestored;
use crate::runner::now;
use crate::store::Store;
use lab::advice;
use lab::analysis::Analysis;
use lab::design::{Open, Plan, Slot, block};
use lab::forecast::forecast;
use lab::words::Titles;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::experiment::workloads::{IDLE, TRIAL};
use protocol::experiment::{Configuration, Design, Effect, ExperimentRecord, Metric, Stage, TimeLeft, Trial, TrialNow};
use protocol::units::Nanos;
use protocol::workload::Workload;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Times that a trial is tried within its block.
const ATTEMPTS: usize = 4;
/// Blocks of a check in which power at idle is measured: enough for a number, and time for verdicts.
const IDLE_BLOCKS: u32 = 12;
/// Time that settings stay, where they have a time of their own, beyond that of all workloads.
const MARGIN: Duration = Duration::from_mins(1);

/// Why no more blocks follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Every knob has its verdict.
    Decided,
    /// `max_blocks` have run.
    Blocks,
    /// The time given is over.
    Time,
    /// The user stopped it.
    Stopped,
}

/// An experiment under way.
pub(super) struct Blocks<'a> {
    pub(super) record: &'a ExperimentRecord,
    pub(super) plan: &'a Plan,
    pub(super) workloads: Vec<Workload>,
    pub(super) store: &'a Store,
    pub(super) bench: Bench<'a>,
    pub(super) hand: &'a mut Hand,
    pub(super) guard: Guard,
    pub(super) trials: &'a mut Vec<Trial>,
    pub(super) until: Option<Instant>,
    /// The configuration in force, if one is.
    pub(super) in_force: Option<usize>,
    pub(super) steering: &'a Steering,
    pub(super) sink: &'a mut dyn FnMut(Event),
}

/// What one attempt yielded.
struct Attempt {
    metrics: BTreeMap<Metric, f64>,
    latency: Vec<(f64, Nanos)>,
    started_at: String,
    void: Option<Void>,
}

impl Blocks<'_> {
    /// Runs what is missing.
    pub(super) fn run(&mut self) -> Result<End, ErrorBody> {
        let (began, before) = (Instant::now(), self.trials.len());
        let most = self.record.spec.max_blocks;
        let seed = self.record.spec.seed.unwrap_or_default();
        let titles = Titles::of(&self.record.knobs);
        let mut analysis = Analysis::new(&self.record.spec, self.plan, titles.clone());
        if let Some(text) = analysis.too_few() {
            (self.sink)(Event::ExperimentNote { experiment: self.record.id.clone(), text });
        }
        for number in 0..most {
            let open: Open = analysis.open();
            if open.is_empty() {
                return Ok(End::Decided);
            }
            let known = self.trials.len();
            let end = self.block(number, analysis.stage(), &block(self.plan, seed, number, &open))?;
            if let Some(end) = end {
                return Ok(end);
            }
            self.trials.iter().filter(|t| t.block == number).for_each(|t| analysis.add(t));
            if self.trials.len() == known {
                continue;
            }
            self.refuse_nothing_but_void(known)?;
            let each = began.elapsed() / u32::try_from(self.trials.len() - before).unwrap_or(u32::MAX).max(1);
            let time = |trials: usize| trials as f64 * each.as_secs_f64() * 1e3;
            let left = forecast(&analysis, number + 1, most);
            let left = TimeLeft { least_ms: time(left.least), likely_ms: time(left.likely), most_ms: time(left.most) };
            let all = analysis.effects();
            let headline = advice::headline(&all, &titles, self.record.spec.threshold_percent);
            let effects: Vec<Effect> = all.into_iter().filter(|e| e.primary).collect();
            let experiment = self.record.id.clone();
            (self.sink)(Event::BlockFinished { experiment, blocks: number + 1, effects, left, headline });
        }
        Ok(if analysis.open().is_empty() { End::Decided } else { End::Blocks })
    }

    /// A whole block in which nothing could be measured will not be the last one.
    fn refuse_nothing_but_void(&self, known: usize) -> Result<(), ErrorBody> {
        let new = self.trials.get(known..).unwrap_or_default();
        let Some(reason) = new.last().and_then(|t| t.void.as_ref()) else { return Ok(()) };
        if new.iter().any(|t| t.void.is_none()) {
            return Ok(());
        }
        let message = format!("Nothing could be measured in a whole block: {}.", reason.trim_end_matches('.'));
        Err(ErrorBody::new(ErrorCode::RunFailed, message).hint("Remove the cause, then resume the experiment."))
    }

    /// The trials of a block that have not been measured yet.
    fn block(&mut self, number: u32, stage: Option<Stage>, slots: &[Slot]) -> Result<Option<End>, ErrorBody> {
        let plan = self.plan;
        for (place, slot) in slots.iter().enumerate() {
            let (Some(configuration), Some(workload)) =
                (plan.configurations.get(slot.configuration), self.workloads.get(slot.workload).cloned())
            else {
                continue;
            };
            let label = workload.label();
            while self.is_missing(number, slot.configuration, &label) {
                self.pause_if_asked()?;
                if self.bench.control.is_stopped() {
                    return Ok(Some(End::Stopped));
                }
                if self.until.is_some_and(|until| Instant::now() >= until) {
                    return Ok(Some(End::Time));
                }
                let trial = TrialNow {
                    block: number,
                    place: count(place),
                    of: count(slots.len()),
                    configuration: count(slot.configuration),
                    workload: label.clone(),
                    stage,
                };
                (self.sink)(Event::TrialStarted { experiment: self.record.id.clone(), trial });
                let attempt = if let Some(reason) = self.bring(slot.configuration, configuration)? {
                    let void = Some(Void::Other(reason));
                    Some(Attempt { metrics: BTreeMap::new(), latency: Vec::new(), started_at: now(), void })
                } else {
                    self.idle(number, slot.configuration)?;
                    self.measure(configuration, &workload)?
                };
                let Some(attempt) = attempt else { return Ok(Some(End::Stopped)) };
                self.end(number, slot.configuration, label.clone(), attempt)?;
            }
        }
        Ok(None)
    }

    /// Waits for as long as it is to pause, with the settings put back.
    fn pause_if_asked(&mut self) -> Result<(), ErrorBody> {
        if !self.steering.is_paused() {
            return Ok(());
        }
        let began = Instant::now();
        self.in_force = None;
        let report = self.hand.put_back(true)?;
        let experiment = self.record.id.clone();
        if let Some(left) = unrestored(&report) {
            (self.sink)(Event::ExperimentNote { experiment: experiment.clone(), text: left.message });
        }
        (self.sink)(Event::ExperimentPaused { experiment: experiment.clone(), paused: true });
        self.steering.wait();
        // Whoever stops it sees its end next.
        if !self.bench.control.is_stopped() {
            (self.sink)(Event::ExperimentPaused { experiment, paused: false });
        }
        self.until = self.until.map(|until| until + began.elapsed());
        Ok(())
    }

    /// Whether this trial is still to be run: not measured, and not given up.
    fn is_missing(&self, number: u32, configuration: usize, label: &str) -> bool {
        let here = |t: &&Trial| t.block == number && t.configuration as usize == configuration && t.workload == label;
        // Blocks follow each other; when an experiment is resumed, later ones are there already.
        let mut attempts =
            self.trials.iter().rev().skip_while(|t| t.block > number).take_while(|t| t.block == number).filter(here);
        let first = attempts.next();
        first.is_none_or(|t| t.void.is_some() && attempts.count() + 1 < ATTEMPTS)
    }

    /// Brings the host to a configuration and waits until it is in force; why it cannot be had, if so.
    fn bring(&mut self, index: usize, to: &Configuration) -> Result<Option<String>, ErrorBody> {
        if self.in_force == Some(index) {
            return Ok(None);
        }
        let from = self.in_force.take().and_then(|i| self.plan.configurations.get(i));
        let all: u64 = self.workloads.iter().map(|w| w.duration().0.0).sum();
        let stays = Duration::from_micros(all) * u32::try_from(ATTEMPTS).unwrap_or(1) + MARGIN;
        let trouble = bring(self.hand, to, &self.record.knobs, stays)?;
        if trouble.is_none() {
            self.bench.control.pause(settle::time(from, to));
            self.in_force = Some(index);
        }
        Ok(trouble)
    }

    /// The power of a configuration at idle, once a block, where there are meters.
    fn idle(&mut self, number: u32, configuration: usize) -> Result<(), ErrorBody> {
        let enough = self.record.spec.design == Design::Check && number >= IDLE_BLOCKS;
        if enough || !self.bench.meters || !self.is_missing(number, configuration, IDLE) {
            return Ok(());
        }
        let time = self.record.spec.trial_seconds.map_or(Duration::from_micros(TRIAL.0.0), Duration::from_secs_f64);
        let Some((started_at, watts)) = self.bench.idle(time, self.hand) else { return Ok(()) };
        let metrics = BTreeMap::from([(Metric::IdlePower, watts)]);
        self.end(number, configuration, IDLE.into(), Attempt { metrics, latency: Vec::new(), started_at, void: None })
    }

    /// One attempt; `None` when stopped meanwhile.
    fn measure(&mut self, configuration: &Configuration, workload: &Workload) -> Result<Option<Attempt>, ErrorBody> {
        let workload = Workload {
            wait: configuration.wait.unwrap_or(workload.wait),
            // Other places each time: what was read before may lie in the drive's memory.
            randseed: workload.randseed.wrapping_add(self.trials.len() as u64),
            ..workload.clone()
        };
        self.guard.look();
        let began = now();
        match self.bench.run(&workload, self.hand, self.sink) {
            Ok(None) => Ok(None),
            Ok(Some(m)) => {
                let void = self.guard.judge(self.hand, configuration, &m.result, m.took)?;
                let latency = m.result.directions().next().map(|d| d.lat.percentiles.clone()).unwrap_or_default();
                Ok(Some(Attempt { metrics: m.metrics, latency, started_at: m.started_at, void }))
            }
            Err(error) => Ok(Some(Attempt {
                metrics: BTreeMap::new(),
                latency: Vec::new(),
                started_at: began,
                void: Some(Void::Other(error.message.trim_end_matches('.').to_owned())),
            })),
        }
    }

    /// Stores a trial.
    fn end(&mut self, block: u32, configuration: usize, workload: String, attempt: Attempt) -> Result<(), ErrorBody> {
        let Attempt { metrics, latency, started_at, void } = attempt;
        let trial = Trial {
            number: count(self.trials.len()),
            block,
            configuration: count(configuration),
            workload,
            metrics,
            latency,
            started_at,
            void: void.as_ref().map(|v| v.reason().to_owned()),
        };
        self.store.add_trial(&self.record.id, &trial)?;
        (self.sink)(Event::TrialFinished { experiment: self.record.id.clone(), trial: Box::new(trial.clone()) });
        self.trials.push(trial);
        if let Some(void) = void {
            if matches!(void, Void::Other(_)) {
                // Whatever was changed is set again.
                self.in_force = None;
            }
            let (sink, experiment) = (&mut *self.sink, &self.record.id);
            let mut say = |text| sink(Event::ExperimentNote { experiment: experiment.clone(), text });
            self.guard.recover(&void, self.steering, &mut say);
        }
        Ok(())
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
