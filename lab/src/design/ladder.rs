//! Rungs, one after the other, and the comparison of just two.

use super::factor::{as_found, configuration, factors, settable};
use super::idle;
use super::plan::{Contrast, Plan, PlanError};
use protocol::experiment::keys::did_you_mean;
use protocol::experiment::{Configuration, ExperimentSpec, Rung};
use protocol::knob::{Assignment, Knob};

/// The rungs given, or one for each knob on the way from all-saving to all-performance.
pub(super) fn ladder(spec: &ExperimentSpec, knobs: &[Knob]) -> Result<Plan, PlanError> {
    if !spec.rung.is_empty() {
        return Ok(climb(cumulative(&spec.rung, knobs)?, knobs));
    }
    let (factors, unmapped) = factors(spec, knobs)?;
    let rung = |done: usize| {
        let name = match done.checked_sub(1).and_then(|last| factors.get(last)) {
            None => "all-saving".into(),
            Some(f) => format!("{}={}", f.id, f.performance),
        };
        configuration(name, &factors, |i, _| i >= done)
    };
    Ok(Plan { unmapped, ..climb((0..=factors.len()).map(rung).collect(), knobs) })
}

/// The two rungs given, or the host as found against all-performance.
pub(super) fn ab(spec: &ExperimentSpec, knobs: &[Knob]) -> Result<Plan, PlanError> {
    if let [a, b] = spec.rung.as_slice() {
        // Each stands for itself: what one does not mention is as it was found.
        let one = |r: &Rung| cumulative(std::slice::from_ref(r), knobs);
        let mut both: Vec<_> = one(a)?.into_iter().chain(one(b)?).collect();
        complete(&mut both, knobs)?;
        return Ok(climb(both, knobs));
    }
    let (factors, unmapped) = factors(spec, knobs)?;
    let found = factors.iter().filter_map(|f| {
        let value = knobs.iter().find(|k| k.id == f.id).and_then(as_found)?;
        Some(Assignment { id: f.id.clone(), value })
    });
    let found = Configuration { name: "as-found".into(), set: found.collect(), wait: None };
    let both = vec![found, configuration("all-performance", &factors, |_, _| false)];
    Ok(Plan { unmapped, ..climb(both, knobs) })
}

/// Full assignments from rungs that only say what changes. What no rung has set yet is as it was found.
pub(super) fn cumulative(rungs: &[Rung], knobs: &[Knob]) -> Result<Vec<Configuration>, PlanError> {
    let mut now: Vec<Assignment> = Vec::new();
    let mut out = Vec::new();
    for rung in rungs {
        for (id, value) in &rung.set {
            let knob = settable(knobs, id)?;
            let value = &value.0;
            if !knob.values.is_empty() && !knob.values.contains(value) {
                let hint = did_you_mean(value, knob.values.iter().map(String::as_str));
                return Err(PlanError::UnknownValue {
                    id: id.clone(),
                    value: value.clone(),
                    hint,
                    values: knob.values.clone(),
                });
            }
            now.retain(|a| a.id != *id);
            now.push(Assignment { id: id.clone(), value: value.clone() });
        }
        refuse_contradiction(rung, &now, knobs)?;
        out.push(Configuration { name: rung.name.clone(), set: now.clone(), wait: None });
    }
    complete(&mut out, knobs)?;
    Ok(out)
}

/// A rung that sets two knobs of the same files must mean the same by both.
fn refuse_contradiction(rung: &Rung, now: &[Assignment], knobs: &[Knob]) -> Result<(), PlanError> {
    let mut agreed = now.to_vec();
    if [idle::C1E, idle::DEPTH].iter().any(|id| !rung.set.contains_key(*id)) {
        return Ok(());
    }
    let contradiction = |reason| PlanError::Contradiction { rung: rung.name.clone(), reason };
    idle::agree(&mut agreed, idle::C1E, knobs).map_err(contradiction)?;
    if agreed == now {
        return Ok(());
    }
    let (c1e, depth) = (idle::C1E, idle::DEPTH);
    Err(contradiction(format!("{c1e} and {depth} write the same files, and want different things of C1E")))
}

/// Gives every configuration a value for each knob that any of them sets, in the host's order of knobs. Assignments come
/// in the order in which they were made.
fn complete(configurations: &mut [Configuration], knobs: &[Knob]) -> Result<(), PlanError> {
    let touched = |k: &&Knob| configurations.iter().any(|c| c.set.iter().any(|a| a.id == k.id));
    let touched: Vec<&Knob> = knobs.iter().filter(touched).collect();
    for c in configurations {
        let last = c.set.iter().rev().find(|a| [idle::C1E, idle::DEPTH].contains(&a.id.as_str())).map(|a| a.id.clone());
        let value = |k: &Knob| c.set.iter().find(|a| a.id == k.id).map(|a| a.value.clone()).or_else(|| as_found(k));
        c.set = touched.iter().filter_map(|k| Some(Assignment { id: k.id.clone(), value: value(k)? })).collect();
        if let Some(last) = last {
            let contradiction = |reason| PlanError::Contradiction { rung: c.name.clone(), reason };
            idle::agree(&mut c.set, &last, knobs).map_err(contradiction)?;
        }
    }
    Ok(())
}

/// Compares each configuration with the one before it. Of the two, the one that saves more is the one in question.
pub(super) fn climb(configurations: Vec<Configuration>, knobs: &[Knob]) -> Plan {
    let mut contrasts = Vec::new();
    for (i, pair) in configurations.windows(2).enumerate() {
        let [a, b] = pair else { continue };
        let changed = a.set.iter().zip(&b.set).filter(|(x, y)| x.value != y.value).collect();
        let changed = idle::leading(changed, knobs);
        if changed.is_empty() {
            continue;
        }
        let towards_saving: i32 = changed.iter().map(|(x, y)| leaning(knobs, y) - leaning(knobs, x)).sum();
        let up = towards_saving > 0;
        let value = |pick: fn(&(&Assignment, &Assignment)) -> String, name: &str| match changed.as_slice() {
            [one] => pick(one),
            _ => name.to_owned(),
        };
        let (first, second) = (value(|c| c.0.value.clone(), &a.name), value(|c| c.1.value.clone(), &b.name));
        let (from, to, from_index, to_index) = if up { (first, second, i, i + 1) } else { (second, first, i + 1, i) };
        let knob = match changed.as_slice() {
            [(x, _)] => x.id.clone(),
            _ => b.name.clone(),
        };
        contrasts.push(Contrast {
            knob,
            from,
            to,
            base: None,
            stage: None,
            weights: vec![(to_index, 1.0), (from_index, -1.0)],
        });
    }
    Plan { configurations, contrasts, ..Plan::default() }
}

/// 1 for the saving value, -1 for the performing one, 0 for others.
fn leaning(knobs: &[Knob], a: &Assignment) -> i32 {
    let Some(knob) = knobs.iter().find(|k| k.id == a.id) else { return 0 };
    let is = |v: &Option<String>| i32::from(v.as_deref() == Some(a.value.as_str()));
    is(&knob.saving_value) - is(&knob.performance_value)
}
