//! An experiment from its lock to its report.

use super::blocks::{Blocks, End};
use super::guard::Guard;
use super::hand::Hand;
use super::measure::Bench;
use super::record::plan_of;
use super::rehearse;
use crate::lock::Lock;
use crate::runner::{Runner, drive, new_id, now};
use crate::store::Stored;
use engine::{Control, Held, RunOptions};
use lab::design::{Host, Plan, plan};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::experiment::outcome::FORMAT;
use protocol::experiment::{
    Design, ExperimentFile, ExperimentHead, ExperimentRecord, ExperimentReport, ExperimentSpec, Trial, TrialMark,
};
use protocol::host::TargetFacts;
use protocol::knob::RestoreReport;
use protocol::plan::RunSpec;
use protocol::power::PowerState;
use protocol::run::RunState;
use std::time::{Duration, Instant};

/// What an experiment may take, beyond its own `max_blocks`.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time in all that it waits for a busy machine to become quiet.
    pub patience: Duration,
    /// Time after which it stops with what it knows.
    pub time: Option<Duration>,
}

/// Says what is to be run, once it is known which knobs the host has.
pub type Ask<'a> = &'a dyn Fn(&PowerState) -> Result<ExperimentSpec, ErrorBody>;

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

/// Runs an experiment, blocking.
pub fn start(
    runner: &Runner,
    ask: Ask<'_>,
    limits: Limits,
    control: &Control,
    sink: &mut dyn FnMut(Event),
) -> Result<Ended, ErrorBody> {
    let id = new_id();
    let lock = runner.lock_for("an experiment", &id)?;
    let mut hand = Hand::open(runner.root(), runner.state())?;
    let begun = begin(runner, &mut hand, &id, ask, control, sink);
    let ended = begun.and_then(|(record, plan, held)| {
        runner.store().begin_experiment(&record)?;
        let trials = Vec::new();
        conduct(runner, &mut hand, Work { record: &record, plan: &plan, held: &held, trials }, limits, control, sink)
    });
    finish(ended, hand, lock, sink)
}

/// Goes on with a stored experiment, blocking.
pub fn resume(
    runner: &Runner,
    id: &str,
    limits: Limits,
    control: &Control,
    sink: &mut dyn FnMut(Event),
) -> Result<Ended, ErrorBody> {
    let Stored { record, state, .. } = runner.store().experiment(id)?;
    if state == RunState::Done {
        let error = ErrorBody::new(ErrorCode::Usage, format!("Experiment {id} has ended by itself."));
        return Err(error.hint(format!("`brakecheck experiment show {id}` shows what it found.")));
    }
    let plan = plan_of(&record)?;
    let lock = runner.lock_for("an experiment", id)?;
    // Read under the lock: nobody adds to them any more.
    let trials = runner.store().trials(id)?;
    let mut hand = Hand::open(runner.root(), runner.state())?;
    let ready = refuse_changes(runner, &hand, &record)
        .and_then(|()| lay_out(runner, id, &record.spec, &record.target, control, sink));
    let ended = ready.and_then(|held| {
        runner.store().begin_experiment(&record)?;
        conduct(runner, &mut hand, Work { record: &record, plan: &plan, held: &held, trials }, limits, control, sink)
    });
    finish(ended, hand, lock, sink)
}

/// Puts everything back, and only then says that it has ended.
fn finish(
    ended: Result<Ended, ErrorBody>,
    hand: Hand,
    lock: Lock,
    sink: &mut dyn FnMut(Event),
) -> Result<Ended, ErrorBody> {
    let restored = hand.put_back();
    drop(lock);
    let ended = Ended { restored, ..ended? };
    sink(Event::ExperimentFinished {
        experiment: ended.id.clone(),
        state: ended.state,
        error: ended.error.clone().or_else(|| ended.unrestored()),
        headline: ended.report.headline.clone(),
    });
    Ok(ended)
}

impl Ended {
    /// What is not as it was found, if anything.
    pub fn unrestored(&self) -> Option<ErrorBody> {
        match &self.restored {
            Err(error) => Some(error.clone()),
            Ok(report) if report.is_complete() => None,
            Ok(report) => {
                let left: Vec<String> = report
                    .items
                    .iter()
                    .filter_map(|i| i.message.as_ref().map(|message| format!("{}: {message}", i.id)))
                    .collect();
                Some(ErrorBody::new(ErrorCode::RestoreIncomplete, format!("Not put back: {}.", left.join("; "))))
            }
        }
    }
}

fn note(experiment: &str, text: String) -> Event {
    Event::ExperimentNote { experiment: experiment.to_owned(), text }
}

/// A stored experiment with what it has found so far.
pub fn report(runner: &Runner, id: &str) -> Result<(Stored, ExperimentReport), ErrorBody> {
    let stored = runner.store().experiment(id)?;
    let record = &stored.record;
    let report = lab::report::report(&record.spec, &plan_of(record)?, &record.knobs, runner.store().trials(id)?);
    Ok((stored, report))
}

/// The same as a file to keep.
pub fn export(runner: &Runner, id: &str) -> Result<ExperimentFile, ErrorBody> {
    let (stored, report) = report(runner, id)?;
    let Stored { record: experiment, state, finished_at, error } = stored;
    Ok(ExperimentFile { experiment, state, finished_at, error, report })
}

/// Everything before the first trial: questions, target, and one look at each configuration.
fn begin(
    runner: &Runner,
    hand: &mut Hand,
    id: &str,
    ask: Ask<'_>,
    control: &Control,
    sink: &mut dyn FnMut(Event),
) -> Result<(ExperimentRecord, Plan, Held), ErrorBody> {
    let state = hand.list()?;
    let mut spec = ask(&state)?;
    let knobs = state.knobs;
    if !hand.may_set() && spec.design != Design::WaitMode {
        let error = ErrorBody::new(ErrorCode::NotPermitted, "Changing the host's settings needs root.");
        return Err(error.hint("Start with sudo. Only the design wait-mode changes no setting."));
    }
    spec.seed = Some(spec.seed.unwrap_or_else(seed));
    let waits = engine::facts::engine_facts().wait_modes.clone();
    let whole = plan(&spec, Host { knobs: &knobs, waits: &waits })?;
    let workloads = spec.expanded_workloads();
    let target = engine::target::check(&RunSpec::of_workloads(&spec.target, &workloads, 1)).map_err(|e| e.body())?;
    // Laid out with the settings as found, and before anything is changed.
    let held = lay_out(runner, id, &spec, &target, control, sink)?;
    let impossible = rehearse::impossible(hand, &whole, control)?;
    for (index, reason) in &impossible {
        let name = whole.configurations.get(*index).map_or("", |c| c.name.as_str());
        sink(note(id, format!("Left out: {name}: {reason}.")));
    }
    let plan = whole.without(&impossible);
    if plan.contrasts.is_empty() {
        let reason = impossible.first().map_or("there is nothing to compare", |(_, reason)| reason.as_str());
        return Err(ErrorBody::new(ErrorCode::NotPermitted, format!("No configuration can be had: {reason}.")));
    }
    let record = ExperimentRecord {
        id: id.to_owned(),
        format: FORMAT,
        version: protocol::VERSION.into(),
        started_at: now(),
        spec,
        knobs,
        waits,
        impossible,
        configurations: plan.configurations.clone(),
        host: power::host::facts(runner.root()),
        drive: drive(runner.root(), &target),
        target,
        sweep: Vec::new(),
        imported: false,
    };
    Ok((record, plan, held))
}

/// A seed that JSON numbers hold exactly.
fn seed() -> u64 {
    let mut bytes = [0; 4];
    // Without randomness the order is a fixed one; effects are then judged as if it had been drawn.
    let _ = getrandom::fill(&mut bytes);
    u64::from(u32::from_ne_bytes(bytes))
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

/// What an experiment needs must be as it was when it began.
fn refuse_changes(runner: &Runner, hand: &Hand, record: &ExperimentRecord) -> Result<(), ErrorBody> {
    let knobs = hand.list()?.knobs;
    for id in record.touched() {
        let knob = knobs.iter().find(|k| k.id == id);
        if knob.is_some_and(|k| k.writable) {
            continue;
        }
        let why = knob.and_then(|k| k.reason.clone()).unwrap_or_else(|| "it is not there any more".into());
        return Err(ErrorBody::new(ErrorCode::NotPermitted, format!("{id} cannot be set now: {why}.")));
    }
    let serial = |d: Option<protocol::host::DriveFacts>| d.and_then(|d| d.serial);
    let target = engine::target::inspect(&record.target.path).map_err(|e| e.body())?;
    let (then, now) = (serial(record.drive.clone()), serial(drive(runner.root(), &target)));
    if then == now {
        return Ok(());
    }
    let message = format!("{} lies on another drive than when the experiment began.", record.target.path);
    Err(ErrorBody::new(ErrorCode::TargetRefused, message).hint("Start a new experiment."))
}

/// What is run, and what has been.
struct Work<'a> {
    record: &'a ExperimentRecord,
    plan: &'a Plan,
    held: &'a Held,
    trials: Vec<Trial>,
}

fn conduct(
    runner: &Runner,
    hand: &mut Hand,
    work: Work<'_>,
    limits: Limits,
    control: &Control,
    sink: &mut dyn FnMut(Event),
) -> Result<Ended, ErrorBody> {
    let Work { record, plan, held, trials } = work;
    let marks = trials.iter().map(TrialMark::from).collect();
    sink(Event::ExperimentStarted { experiment: Box::new(ExperimentHead::from(record)), trials: marks });
    let options = options(runner, &record.id, &record.target);
    // Meters of a recorded machine measure nothing.
    let meters = runner.root().is_live() && !hand.energy().is_empty();
    let mut blocks = Blocks {
        record,
        plan,
        workloads: record.spec.expanded_workloads(),
        store: runner.store(),
        bench: Bench { held, options: &options, target: &record.target.path, control, meters },
        hand,
        guard: Guard::new(runner.root(), limits.patience),
        trials,
        until: limits.time.map(|time| Instant::now() + time),
        in_force: None,
        sink,
    };
    let end = blocks.run();
    let trials = blocks.trials;
    let (state, error) = match end {
        Ok(End::Decided | End::Blocks) => (RunState::Done, None),
        Ok(End::Time | End::Stopped) => (RunState::Stopped, None),
        Err(error) => (RunState::Failed, Some(error)),
    };
    let stored = runner.store().finish_experiment(&record.id, state, &now(), error.as_ref());
    stored.and_then(|()| runner.store().checkpoint())?;
    Ok(Ended {
        id: record.id.clone(),
        state,
        error,
        report: lab::report::report(&record.spec, plan, &record.knobs, trials),
        restored: Ok(RestoreReport::default()),
    })
}
