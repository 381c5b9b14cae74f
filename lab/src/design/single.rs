//! One thing changed at a time, everything else held.

use super::factor::{Factor, configuration, factors, kind, settable};
use super::plan::{Contrast, Plan, PlanError};
use protocol::experiment::{Base, Configuration, ExperimentSpec, Stage, Unmapped};
use protocol::knob::{Assignment, Knob};
use protocol::workload::Wait;

/// Each knob alone, from all-saving, from all-performance, or both.
///
/// Both, because either alone can miss a brake: as long as deeper idle states are on, C1E costs nothing that they do not
/// cost already; and with everything off, a knob that only matters when the CPU is slow is not seen.
pub(super) fn one_at_a_time(spec: &ExperimentSpec, knobs: &[Knob]) -> Result<Plan, PlanError> {
    let (factors, unmapped) = factors(spec, knobs)?;
    let mut plan = Plan { unmapped, ..Plan::default() };
    let lone = factors.len() == 1;
    // A single knob has nothing to be on top of: both bases are the same pair.
    if !lone && spec.from != Base::AllPerformance {
        plan.configurations.push(configuration("all-saving", &factors, |_, _| true));
        for (i, f) in factors.iter().enumerate() {
            let name = format!("{}={}", f.id, f.performance);
            plan.configurations.push(configuration(name, &factors, |j, _| j != i));
            plan.contrasts.push(pair(f, Some(Base::AllSaving), plan.configurations.len() - 1, 0));
        }
    }
    if lone || spec.from != Base::AllSaving {
        let base = plan.configurations.len();
        plan.configurations.push(configuration("all-performance", &factors, |_, _| false));
        for (i, f) in factors.iter().enumerate() {
            let name = format!("{}={}", f.id, f.saving);
            plan.configurations.push(configuration(name, &factors, |j, _| j == i));
            let shown = (!lone).then_some(Base::AllPerformance);
            plan.contrasts.push(pair(f, shown, base, plan.configurations.len() - 1));
        }
    }
    Ok(plan)
}

/// Each knob alone from all-performance, to see which can be a brake; then those that look like one, from there and from
/// all-saving. Which these are, the trials of the first stage say ([`crate::stages`]); the plan holds all that may come.
pub(super) fn check(spec: &ExperimentSpec, knobs: &[Knob]) -> Result<Plan, PlanError> {
    let both = ExperimentSpec { from: Base::Both, ..spec.clone() };
    let mut plan = one_at_a_time(&both, knobs)?;
    let staged = |stage: Stage| move |c: &Contrast| Contrast { stage: Some(stage), ..c.clone() };
    let screened = plan.contrasts.iter().filter(|c| c.base != Some(Base::AllSaving)).map(staged(Stage::Screening));
    plan.contrasts = screened.chain(plan.contrasts.iter().map(staged(Stage::Confirmation))).collect();
    Ok(plan)
}

/// From the configuration that performs to the one that saves.
fn pair(f: &Factor, base: Option<Base>, from: usize, to: usize) -> Contrast {
    Contrast {
        knob: f.id.clone(),
        from: f.performance.clone(),
        to: f.saving.clone(),
        base,
        stage: None,
        weights: vec![(to, 1.0), (from, -1.0)],
    }
}

/// What a power plan sets: the firmware's profile, or where there is none, what power-profiles-daemon sets in its place.
const PLANS: [&str; 4] = ["platform.profile", "cpu.epp", "cpu.epb", "cpu.governor"];

/// Every value of what a power plan sets here.
pub(super) fn power_plan(spec: &ExperimentSpec, knobs: &[Knob]) -> Result<Plan, PlanError> {
    let [profile, ..] = PLANS;
    let any = |of: &&str| knobs.iter().any(|k| kind(&k.id) == *of && k.writable);
    let named = spec.knobs.first().map(|id| kind(id));
    let of = named.filter(|of| PLANS.contains(of)).or_else(|| PLANS.into_iter().find(any)).unwrap_or(profile);
    let mut plan = levels(spec, knobs, of)?;
    if of != profile && named.is_none() {
        let why = knobs.iter().find(|k| k.id == profile).and_then(|k| k.reason.clone());
        let reason = why.unwrap_or_else(|| "this machine has none".into());
        plan.unmapped.push(Unmapped { setting: profile.into(), reason });
    }
    Ok(plan)
}

/// Every value of the knobs of a kind against the one that performs.
pub(super) fn levels(spec: &ExperimentSpec, knobs: &[Knob], of: &str) -> Result<Plan, PlanError> {
    let nothing = |reason: String| PlanError::Nothing { design: spec.design, reason };
    let mut chosen = Vec::new();
    for id in &spec.knobs {
        if kind(id) != of {
            return Err(nothing(format!("it compares values of {of}; {id} is none of them")));
        }
        chosen.push(settable(knobs, id)?);
    }
    if chosen.is_empty() {
        let same: Vec<_> = knobs.iter().filter(|k| kind(&k.id) == of).collect();
        chosen = same.iter().copied().filter(|k| k.writable).collect();
        if chosen.is_empty() {
            let reason = same.iter().find_map(|k| k.reason.clone()).unwrap_or_else(|| "no drive here has it".into());
            return Err(nothing(format!("{of} cannot be set here: {reason}")));
        }
    }
    let best = |k: &Knob| k.performance_value.clone().or_else(|| k.values.last().cloned());
    let base: Vec<_> = chosen.iter().filter_map(|k| Some(Assignment { id: k.id.clone(), value: best(k)? })).collect();
    let mut plan = Plan::default();
    plan.configurations.push(Configuration { name: "all-performance".into(), set: base.clone(), wait: None });
    for knob in chosen {
        let Some(from) = best(knob) else { continue };
        for to in knob.values.iter().filter(|v| **v != from) {
            let set = base
                .iter()
                .map(|a| if a.id == knob.id { Assignment { value: to.clone(), ..a.clone() } } else { a.clone() });
            let name = format!("{}={to}", knob.id);
            plan.configurations.push(Configuration { name, set: set.collect(), wait: None });
            let weights = vec![(plan.configurations.len() - 1, 1.0), (0, -1.0)];
            plan.contrasts.push(Contrast {
                knob: knob.id.clone(),
                from: from.clone(),
                to: to.clone(),
                base: None,
                stage: None,
                weights,
            });
        }
    }
    Ok(plan)
}

/// Every way to wait against `enter`, the way of most programs.
pub(super) fn wait_modes(waits: &[Wait]) -> Plan {
    let mut plan = Plan::default();
    let others = waits.iter().copied().filter(|w| *w != Wait::Enter);
    for (i, wait) in std::iter::once(Wait::Enter).chain(others).enumerate() {
        let name = format!("wait={wait}");
        plan.configurations.push(Configuration { name, set: Vec::new(), wait: Some(wait) });
        if i > 0 {
            plan.contrasts.push(Contrast {
                knob: "wait".into(),
                from: Wait::Enter.name().into(),
                to: wait.name().into(),
                base: None,
                stage: None,
                weights: vec![(i, 1.0), (0, -1.0)],
            });
        }
    }
    plan
}
