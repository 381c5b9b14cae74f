//! An experiment from its first event to its report.

use super::blocks::{Blocks, End};
use super::guard::{Guard, HEAT_PATIENCE, quiet};
use super::hand::Hand;
use super::measure::Bench;
use super::ready::Ready;
use super::record::{conclude, plan_of};
use super::rehearse;
use super::steering::Steering;
use super::sweep::sweep;
use crate::runner::{Runner, drive, now};
use crate::store::Stored;
use engine::{Control, Held, RunOptions};
use lab::design::{Host, Plan, plan};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::experiment::{
    ExperimentFile, ExperimentHead, ExperimentRecord, ExperimentReport, ExperimentSpec, Trial, TrialMark,
};
use protocol::host::TargetFacts;
use protocol::knob::RestoreReport;
use protocol::plan::RunSpec;
use protocol::run::RunState;
use std::time::{Duration, Instant};

/// What an experiment may take, beyond its own `max_blocks`.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time in all that it waits for a busy machine to become quiet.
    pub patience: Duration,
    /// Time after which it stops with what it knows, counted from its first event, without pauses.
    pub time: Option<Duration>,
}

/// How an experiment ended.
#[derive(Debug)]
pub struct Ended {
    /// Its id.
    pub id: String,
    /// Done when every knob has its verdict or the blocks ran out, else why not.
    pub state: RunState,
    /// What ended it before its time.
    pub error: Option<ErrorBody>,
    /// What it found.
    pub report: ExperimentReport,
    /// What became of putting the settings back.
    pub restored: Result<RestoreReport, ErrorBody>,
}

impl Ready {
    /// Runs it to its end, blocking. Once it has begun it is stored, and so is how it ended.
    pub fn run(
        self,
        runner: &Runner,
        mut limits: Limits,
        steering: &Steering,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Ended, ErrorBody> {
        // If this thread dies, the settings go back before the lock does.
        let Self { lock, mut hand, mut record, mut trials, note: choice } = self;
        runner.store().begin_experiment(&record)?;
        let until = limits.time.map(|time| Instant::now() + time);
        let marks = trials.iter().map(TrialMark::from).collect();
        sink(Event::ExperimentStarted { experiment: Box::new(ExperimentHead::from(&record)), trials: marks });
        if let Some(text) = choice {
            sink(note(&record.id, text));
        }
        let ran =
            prepare(runner, &mut hand, &mut record, trials.is_empty(), (&mut limits.patience, until), steering, sink)
                .and_then(|(plan, held)| {
                    let work = Work { record: &record, plan: &plan, held: &held };
                    conduct(runner, &mut hand, work, &mut trials, (limits.patience, until), steering, sink)
                });
        let (state, error) = match ran {
            Ok(End::Decided | End::Blocks) => (RunState::Done, None),
            Ok(End::Time | End::Stopped) => (RunState::Stopped, None),
            Err(error) if error.code == ErrorCode::Interrupted => (RunState::Stopped, Some(error)),
            Err(error) => (RunState::Failed, Some(error)),
        };
        // Put back, and only then said to have ended.
        let restored = hand.end();
        let report = conclude(&record, trials)?;
        let headline = Some(report.headline.as_str());
        let stored = runner.store().finish_experiment(&record.id, state, &now(), error.as_ref(), headline);
        let ended = Ended { id: record.id, state, error, report, restored };
        stored.and_then(|()| runner.store().checkpoint())?;
        drop(lock);
        sink(Event::ExperimentFinished {
            experiment: ended.id.clone(),
            state: ended.state,
            error: ended.error.clone().or_else(|| ended.unrestored()),
            headline: ended.report.headline.clone(),
        });
        Ok(ended)
    }
}

impl Ended {
    /// What is not as it was found, if anything.
    pub fn unrestored(&self) -> Option<ErrorBody> {
        match &self.restored {
            Err(error) => Some(error.clone()),
            Ok(report) => unrestored(report),
        }
    }
}

/// What could not be put back, if anything.
pub(super) fn unrestored(report: &RestoreReport) -> Option<ErrorBody> {
    if report.is_complete() {
        return None;
    }
    let told = report.items.iter().filter_map(|i| i.message.as_ref().map(|message| format!("{}: {message}", i.id)));
    let left = told.collect::<Vec<_>>().join("; ");
    Some(ErrorBody::new(ErrorCode::RestoreIncomplete, format!("Not put back: {left}.")))
}

fn note(experiment: &str, text: String) -> Event {
    Event::ExperimentNote { experiment: experiment.to_owned(), text }
}

/// A stored experiment with what it has found so far.
pub fn report(runner: &Runner, id: &str) -> Result<(Stored, ExperimentReport), ErrorBody> {
    let stored = runner.store().experiment(id)?;
    let report = conclude(&stored.record, runner.store().trials(id)?)?;
    Ok((stored, report))
}

/// The same as a file to keep.
pub fn export(runner: &Runner, id: &str) -> Result<ExperimentFile, ErrorBody> {
    let (stored, report) = report(runner, id)?;
    let Stored { record: experiment, state, finished_at, error } = stored;
    Ok(ExperimentFile { experiment, state, finished_at, error, report })
}

/// Everything between the first event and the first trial: the target, and one look at each configuration.
fn prepare(
    runner: &Runner,
    hand: &mut Hand,
    record: &mut ExperimentRecord,
    is_new: bool,
    limits: (&mut Duration, Option<Instant>),
    steering: &Steering,
    sink: &mut dyn FnMut(Event),
) -> Result<(Plan, Held), ErrorBody> {
    // Laid out with the settings as found, and before anything is changed.
    let held = lay_out(runner, &record.id, &record.spec, &record.target, steering.control(), sink)?;
    if !is_new {
        return Ok((plan_of(record)?, held));
    }
    let whole = plan(&record.spec, Host { knobs: &record.knobs, waits: &record.waits })?;
    let impossible = rehearse::impossible(hand, &whole, &record.knobs, steering.control())?;
    for (index, reason) in &impossible {
        let name = whole.configurations.get(*index).map_or("", |c| c.name.as_str());
        sink(note(&record.id, format!("Left out: {name}: {reason}.")));
    }
    let plan = whole.without(&impossible);
    if plan.contrasts.is_empty() {
        let reason = impossible.first().map_or("there is nothing to compare", |(_, reason)| reason.as_str());
        return Err(ErrorBody::new(ErrorCode::NotPermitted, format!("No configuration can be had: {reason}.")));
    }
    let changed = impossible != record.impossible;
    if changed {
        record.configurations.clone_from(&plan.configurations);
        record.impossible = impossible;
    }
    let swept = find_gap(runner, hand, record, &held, limits, steering, sink)?;
    if changed || swept {
        runner.store().begin_experiment(record)?;
        sink(Event::ExperimentStarted { experiment: Box::new(ExperimentHead::from(&*record)), trials: Vec::new() });
    }
    Ok((plan, held))
}

/// Finds the idle gap of the cold read, where that is asked for; whether the record says something new then.
fn find_gap(
    runner: &Runner,
    hand: &mut Hand,
    record: &mut ExperimentRecord,
    held: &Held,
    (patience, until): (&mut Duration, Option<Instant>),
    steering: &Steering,
    sink: &mut dyn FnMut(Event),
) -> Result<bool, ErrorBody> {
    let Some(base) = record.spec.swept() else { return Ok(false) };
    if !patience.is_zero() {
        *patience = quiet::wait(within(*patience, until), steering, &mut |text| sink(note(&record.id, text)));
    }
    sink(note(&record.id, "Looking for the idle gap at which a read gets slow, with all savings on.".into()));
    let options = options(runner, &record.id, &record.target);
    let control = steering.control();
    let bench = Bench { held, options: &options, target: &record.target.path, control, meters: false };
    // What is not found now is looked for when the experiment goes on.
    let Some(swept) = sweep(record, &base, &bench, until, hand)? else { return Ok(false) };
    sink(note(&record.id, swept.said));
    record.spec = record.spec.with_gap(swept.gap);
    record.sweep = swept.points;
    Ok(true)
}

/// So much of a time as lies before the end.
fn within(time: Duration, until: Option<Instant>) -> Duration {
    until.map_or(time, |until| time.min(until.saturating_duration_since(Instant::now())))
}

/// Opens the target for the whole experiment.
fn lay_out(
    runner: &Runner,
    id: &str,
    spec: &ExperimentSpec,
    target: &TargetFacts,
    control: &Control,
    sink: &mut dyn FnMut(Event),
) -> Result<Held, ErrorBody> {
    let all = RunSpec::of_workloads(&target.path, &spec.expanded_workloads(), 1);
    let held = Held::open(&all, &options(runner, id, target), control, &mut |event| {
        if matches!(event, Event::Layout { .. }) {
            sink(event);
        }
    });
    let held = held.map_err(|e| e.body())?;
    held.ok_or_else(|| ErrorBody::new(ErrorCode::Interrupted, "Stopped before anything was measured."))
}

fn options(runner: &Runner, id: &str, target: &TargetFacts) -> RunOptions {
    let near = drive(runner.root(), target).map(|d| power::drive::near_cpus(runner.root(), &d));
    RunOptions { run: id.to_owned(), registry: runner.state().targets(), near_cpus: near.unwrap_or_default() }
}

/// What is run.
#[derive(Clone, Copy)]
struct Work<'a> {
    record: &'a ExperimentRecord,
    plan: &'a Plan,
    held: &'a Held,
}

fn conduct(
    runner: &Runner,
    hand: &mut Hand,
    work: Work<'_>,
    trials: &mut Vec<Trial>,
    (patience, until): (Duration, Option<Instant>),
    steering: &Steering,
    sink: &mut dyn FnMut(Event),
) -> Result<End, ErrorBody> {
    let Work { record, plan, held } = work;
    let options = options(runner, &record.id, &record.target);
    // Meters of a recorded machine measure nothing.
    let meters = runner.root().is_live() && !hand.energy().is_empty();
    let control = steering.control();
    let mut blocks = Blocks {
        record,
        plan,
        workloads: record.spec.expanded_workloads(),
        store: runner.store(),
        bench: Bench { held, options: &options, target: &record.target.path, control, meters },
        hand,
        guard: Guard::new(runner.root(), drives(record), within(patience, until), within(HEAT_PATIENCE, until)),
        trials,
        until,
        in_force: None,
        steering,
        sink,
    };
    blocks.run()
}

/// Kernel names of everything that is measured.
fn drives(record: &ExperimentRecord) -> Vec<String> {
    record.drive.iter().flat_map(|d| std::iter::once(&d.name).chain(&d.other_drives)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_is_longer_than_the_time_that_is_left() {
        let minute = Duration::from_mins(1);
        assert_eq!(within(minute, None), minute);
        assert_eq!(within(minute, Some(Instant::now())), Duration::ZERO);
        assert!(within(minute, Some(Instant::now() + Duration::from_secs(2))) <= Duration::from_secs(2));
        assert_eq!(within(minute, Some(Instant::now() + Duration::from_hours(1))), minute);
    }
}
