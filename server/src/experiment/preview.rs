//! What an experiment would do, before anything is touched.

use super::choose::{self, fill};
use super::settle;
use crate::runner::Runner;
use lab::analysis::Analysis;
use lab::design::{Host, Plan, PlanError, block, plan};
use lab::forecast::forecast;
use lab::words::Titles;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::request::{PlannedComparison, PlannedKnob};
use protocol::experiment::{Configuration, Design, ExperimentSpec, PlanPreview};
use protocol::host::TargetKind;
use protocol::knob::{Knob, Lifetime};
use protocol::plan::RunSpec;
use protocol::power::PowerState;
use protocol::workload::Workload;
use std::time::Duration;

/// Time that a trial takes beside its workload: threads, rings, looks at the settings.
const OVERHEAD: Duration = Duration::from_millis(100);

/// Plans an experiment. What is wrong with it in itself is an error; why it cannot be started here and now is `refused`.
/// `busy` is what else is on, `meters` whether energy can be measured.
pub fn preview(
    runner: &Runner,
    spec: &ExperimentSpec,
    state: &PowerState,
    busy: Option<ErrorBody>,
    meters: bool,
) -> Result<PlanPreview, ErrorBody> {
    spec.validate()?;
    // Planned as if it were allowed, so that the plan can be seen; that it is not is said.
    let left_out = choose::note(runner.root(), spec);
    let able = PowerState { knobs: allowed(state), read_only: None, ..state.clone() };
    let (spec, no_target) = match fill(runner.root(), spec, &able) {
        Ok(spec) => (spec, None),
        Err(error) if error.code == ErrorCode::TargetRefused => (spec.clone(), Some(error)),
        Err(error) => return Err(error),
    };
    let waits = engine::facts::engine_facts().wait_modes.clone();
    let host = Host { knobs: &able.knobs, waits: &waits };
    let (plan, no_risk) = match plan(&spec, host) {
        Err(error @ PlanError::Risky { .. }) => {
            (plan(&ExperimentSpec { risk: true, ..spec.clone() }, host)?, Some(error.into()))
        }
        planned => (planned?, None),
    };
    let workloads = spec.expanded_workloads();
    let target = engine::target::check(&RunSpec::of_workloads(&spec.target, &workloads, 1)).map_err(|e| e.body());
    let changes = changes(&plan, &able);
    let times = Times::of(&spec, &plan, &able, &workloads, meters);
    let mut notes: Vec<String> = Analysis::new(&spec, &plan, Titles::of(&able.knobs)).too_few().into_iter().collect();
    let risks =
        changes.iter().filter_map(|c| Some(format!("{}: {}.", c.title, c.risk.as_ref()?.trim_end_matches('.'))));
    notes.extend(left_out);
    notes.extend(risks);
    notes.extend(state.daemons.iter().cloned());
    notes.extend(state.notes.iter().cloned());
    if target.as_ref().is_ok_and(|t| t.kind == TargetKind::Directory) {
        let size = RunSpec::of_workloads(&spec.target, &workloads, 1).file_size();
        notes.push(format!("A file of {size} is laid out in {} and removed at the end.", spec.target));
    }
    if !meters {
        notes.push("Power is not measured: this host has no energy meter that can be read.".into());
    }
    let no_right = state.read_only.as_ref().filter(|_| spec.design != Design::WaitMode);
    let no_right =
        no_right.map(|why| ErrorBody::new(ErrorCode::NotPermitted, format!("No setting can be changed: {why}.")));
    Ok(PlanPreview {
        toml: toml::to_string(&spec).map_err(|e| {
            ErrorBody::new(ErrorCode::Internal, format!("The experiment cannot be written as TOML: {e}."))
        })?,
        question: spec.design.question().into(),
        changes,
        comparisons: comparisons(&plan),
        workloads: workloads.iter().map(Workload::label).collect(),
        trials_per_block: times.trials,
        block_seconds: times.block,
        least_seconds: times.least,
        most_seconds: times.most,
        notes,
        refused: no_right.or(no_target).or(target.err()).or(no_risk).or(busy),
        configurations: plan.configurations,
        unmapped: plan.unmapped,
        spec,
    })
}

/// The knobs as they would be with the rights to set them.
fn allowed(state: &PowerState) -> Vec<Knob> {
    let mut knobs = state.knobs.clone();
    if let Some(reason) = &state.read_only {
        for knob in knobs.iter_mut().filter(|k| k.reason.as_ref() == Some(reason)) {
            (knob.writable, knob.reason) = (true, None);
        }
    }
    knobs
}

fn changes(plan: &Plan, state: &PowerState) -> Vec<PlannedKnob> {
    let mut changes: Vec<PlannedKnob> = Vec::new();
    for wish in plan.configurations.iter().flat_map(|c| &c.set) {
        if let Some(known) = changes.iter_mut().find(|c| c.id == wish.id) {
            if !known.values.contains(&wish.value) {
                known.values.push(wish.value.clone());
            }
            continue;
        }
        let knob = state.knobs.iter().find(|k| k.id == wish.id);
        changes.push(PlannedKnob {
            id: wish.id.clone(),
            title: knob.map_or_else(|| wish.id.clone(), |k| k.title.clone()),
            now: knob.and_then(as_found),
            values: vec![wish.value.clone()],
            risk: knob.and_then(|k| k.risk.clone()),
        });
    }
    changes
}

/// The value that it will go back to; what an experiment that is on has set just now is none.
fn as_found(knob: &Knob) -> Option<String> {
    let passing = matches!(knob.lifetime, Some(Lifetime::Experiment { .. }));
    knob.value.clone().filter(|_| !passing)
}

/// Each once, whatever the stages in which it is made.
fn comparisons(plan: &Plan) -> Vec<PlannedComparison> {
    let mut out: Vec<PlannedComparison> = Vec::new();
    for c in &plan.contrasts {
        let it = PlannedComparison { knob: c.knob.clone(), from: c.from.clone(), to: c.to.clone(), base: c.base };
        if !out.contains(&it) {
            out.push(it);
        }
    }
    out
}

/// What it takes, in s.
struct Times {
    /// Trials of the first block.
    trials: u32,
    block: f64,
    least: f64,
    most: f64,
}

impl Times {
    fn of(spec: &ExperimentSpec, plan: &Plan, state: &PowerState, workloads: &[Workload], meters: bool) -> Self {
        let analysis = Analysis::new(spec, plan, Titles::of(&state.knobs));
        let slots = block(plan, spec.seed.unwrap_or_default(), 0, &analysis.open());
        let mut time = Duration::ZERO;
        let mut before: Option<&Configuration> = None;
        for slot in &slots {
            let (Some(c), Some(w)) = (plan.configurations.get(slot.configuration), workloads.get(slot.workload)) else {
                continue;
            };
            if before != Some(c) {
                time += settle::time(before, c);
                if meters {
                    time += Duration::from_secs_f64(spec.trial_seconds.unwrap_or(2.0));
                }
            }
            time += Duration::from_micros(w.duration().0.0) + OVERHEAD;
            before = Some(c);
        }
        let block = time.as_secs_f64();
        let each = block / slots.len().max(1) as f64;
        let ahead = forecast(&analysis, 0, spec.max_blocks);
        let trials = u32::try_from(slots.len()).unwrap_or(u32::MAX);
        Self { trials, block, least: each * ahead.least as f64, most: each * ahead.most as f64 }
    }
}
