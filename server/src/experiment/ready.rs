//! Everything that is known to be right before an experiment begins: what is wrong with it is said here, and nothing has
//! been touched then.

use super::choose::{self, fill};
use super::hand::Hand;
use super::record::plan_of;
use crate::lock::Lock;
use crate::runner::{Runner, drive, new_id, now};
use crate::store::Stored;
use lab::design::{Host, plan};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::outcome::FORMAT;
use protocol::experiment::{Design, ExperimentRecord, ExperimentSpec, Trial};
use protocol::plan::RunSpec;
use protocol::power::PowerState;
use protocol::run::RunState;

/// Says what is to be run, once it is known which knobs the host has.
pub type Ask<'a> = &'a dyn Fn(&PowerState) -> Result<ExperimentSpec, ErrorBody>;

/// Takes the settings in hand; called with the run lock held.
pub type Take<'a> = &'a dyn Fn() -> Result<Hand, ErrorBody>;

/// An experiment that can begin, or go on, with the host's run lock held and its settings in hand.
#[derive(Debug)]
pub struct Ready {
    pub(super) record: ExperimentRecord,
    /// Those that have ended before.
    pub(super) trials: Vec<Trial>,
    pub(super) hand: Hand,
    pub(super) lock: Lock,
    /// What is to be known of the choice of settings.
    pub(super) note: Option<String>,
}

impl Ready {
    /// A new experiment.
    pub fn new(runner: &Runner, take: Take<'_>, ask: Ask<'_>) -> Result<Self, ErrorBody> {
        let id = new_id();
        let lock = runner.lock_for("an experiment", &id)?;
        let mut hand = take()?;
        let (record, note) = begin(runner, &hand, id, ask)?;
        hand.take_risk(record.spec.risk);
        Ok(Self { record, trials: Vec::new(), hand, lock, note })
    }

    /// A stored experiment that goes on where it stood.
    pub fn again(runner: &Runner, take: Take<'_>, id: &str) -> Result<Self, ErrorBody> {
        let Stored { record, state, .. } = runner.store().experiment(id)?;
        if state == RunState::Done {
            let error = ErrorBody::new(ErrorCode::Usage, format!("Experiment {id} has ended by itself."));
            return Err(error.hint(format!("`brakecheck experiment show {id}` shows what it found.")));
        }
        if record.imported {
            let error = ErrorBody::new(ErrorCode::Usage, format!("Experiment {id} was run on another machine."));
            return Err(error.hint("Only there it can go on."));
        }
        plan_of(&record)?;
        let lock = runner.lock_for("an experiment", id)?;
        // Read under the lock: nobody adds to them any more.
        let trials = runner.store().trials(id)?;
        let mut hand = take()?;
        refuse_changes(runner, &hand, &record)?;
        hand.take_risk(record.spec.risk);
        Ok(Self { record, trials, hand, lock, note: None })
    }

    /// What is run.
    pub fn record(&self) -> &ExperimentRecord {
        &self.record
    }
}

/// What is asked for, checked against host and target; what is to be known of the choice of settings beside it.
fn begin(
    runner: &Runner,
    hand: &Hand,
    id: String,
    ask: Ask<'_>,
) -> Result<(ExperimentRecord, Option<String>), ErrorBody> {
    let state = hand.list()?;
    let asked = ask(&state)?;
    let mut spec = fill(runner.root(), &asked, &state)?;
    let note = choose::note(runner.root(), &asked);
    let knobs = state.knobs;
    if !hand.may_set() && spec.design != Design::WaitMode {
        let error = ErrorBody::new(ErrorCode::NotPermitted, "Changing the host's settings needs root.");
        return Err(error.hint("Start with sudo. Only the design wait-mode changes no setting."));
    }
    spec.seed = Some(spec.seed.unwrap_or_else(seed));
    let waits = engine::facts::engine_facts().wait_modes.clone();
    let plan = plan(&spec, Host { knobs: &knobs, waits: &waits })?;
    let workloads = spec.expanded_workloads();
    let target = engine::target::check(&RunSpec::of_workloads(&spec.target, &workloads, 1)).map_err(|e| e.body())?;
    let record = ExperimentRecord {
        id,
        format: FORMAT,
        version: protocol::VERSION.into(),
        started_at: now(),
        spec,
        knobs,
        waits,
        impossible: Vec::new(),
        configurations: plan.configurations,
        host: power::host::facts(runner.root()),
        drive: drive(runner.root(), &target),
        target,
        sweep: Vec::new(),
        imported: false,
    };
    Ok((record, note))
}

/// A seed that JSON numbers hold exactly.
fn seed() -> u64 {
    let mut bytes = [0; 4];
    // Without randomness the order is a fixed one; effects are then judged as if it had been drawn.
    let _ = getrandom::fill(&mut bytes);
    u64::from(u32::from_ne_bytes(bytes))
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
