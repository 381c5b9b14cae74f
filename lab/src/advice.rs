//! The verdict on the whole, and what to do with each knob for whom.

mod decision;

use crate::words::{self, Titles};
use decision::{Advice, Question};
use protocol::experiment::{Effect, Finding, Recommendation, Use};
use protocol::workload::Workload;
use std::collections::BTreeSet;

/// Whom a workload speaks for: single random accesses for latency, all others for throughput.
fn serves(w: &Workload) -> Use {
    if w.rw.random() && w.iodepth == 1 && w.numjobs == 1 { Use::Latency } else { Use::Throughput }
}

/// The verdict in a sentence or two: whether the brakes are on, which, and what they cost.
pub fn headline(effects: &[Effect], titles: &Titles, threshold_percent: f64) -> String {
    let primary: Vec<_> = effects.iter().filter(|e| e.primary).collect();
    if primary.iter().all(|e| e.estimate_percent.is_none()) {
        return "Nothing is measured yet.".into();
    }
    let knobs = |finding: Finding| -> BTreeSet<&str> {
        primary.iter().filter(|e| e.verdict == finding).map(|e| e.knob.as_str()).collect()
    };
    let (brakes, undecided) = (knobs(Finding::Brake), knobs(Finding::Undecided));
    let seem = primary.iter().filter(|e| words::seems(e, threshold_percent) == Some(Finding::Brake));
    let seem: BTreeSet<&str> = seem.map(|e| e.knob.as_str()).filter(|k| !brakes.contains(k)).collect();
    let undecided: Vec<_> = undecided.difference(&brakes).copied().collect();
    let named = |knobs: Vec<&str>| knobs.into_iter().map(|k| titles.title(k)).collect::<Vec<_>>().join(", ");
    let (suspects, unclear): (Vec<_>, Vec<_>) = undecided.iter().partition(|k| seem.contains(*k));
    let said = |what: &str, knobs: Vec<&str>| {
        if knobs.is_empty() { String::new() } else { format!(" {what}: {}.", named(knobs)) }
    };
    let helps = knobs(Finding::Helps).difference(&brakes).copied().collect();
    let open = said("Faster with the saving value", helps)
        + &said("Looks like a brake, to be confirmed", suspects)
        + &said("Undecided", unclear);
    let is_on = |e: &Effect| titles.is_found(&e.knob, &e.to).unwrap_or(true);
    let mut costs: Vec<_> = primary.iter().filter(|e| e.verdict == Finding::Brake).collect();
    // Of those that are on first.
    let size = |e: &Effect| e.estimate_percent.unwrap_or(0.0);
    costs.sort_by(|a, b| is_on(b).cmp(&is_on(a)).then(size(a).total_cmp(&size(b))));
    let Some(worst) = costs.first() else {
        let so_far = if undecided.is_empty() { "" } else { " so far" };
        return format!("No brake found{so_far}: no setting is shown to cost more than {threshold_percent} %.{open}");
    };
    let on: BTreeSet<&str> = costs.iter().filter(|e| is_on(e)).map(|e| e.knob.as_str()).collect();
    let others = brakes.iter().copied().filter(|k| *k != worst.knob);
    let (too, off): (Vec<_>, Vec<_>) = others.partition(|k| on.is_empty() || on.contains(k));
    let also = said("Brakes too", too) + &said("Brakes that are not on now", off);
    let start = if on.is_empty() { "There are brakes, none of them on now." } else { "The brakes are on." };
    format!("{start} {}{also}{open}", worst.sentence)
}

/// What to do with each knob, for each use that the workloads speak for.
pub fn recommend(
    effects: &[Effect],
    workloads: &[Workload],
    titles: &Titles,
    threshold_percent: f64,
) -> Vec<Recommendation> {
    let mut seen = BTreeSet::new();
    let knobs: Vec<_> = effects.iter().map(|e| e.knob.as_str()).filter(|k| seen.insert(*k)).collect();
    let mut out = Vec::new();
    for knob in knobs {
        let of_knob: Vec<_> = effects.iter().filter(|e| e.primary && e.knob == knob).collect();
        for purpose in Use::ALL {
            let speaks = |e: &&&Effect| {
                let workload = workloads.iter().find(|w| w.label() == e.workload);
                purpose == Use::Battery || workload.is_some_and(|w| serves(w) == purpose)
            };
            let relevant: Vec<_> = of_knob.iter().filter(speaks).copied().collect();
            if !relevant.is_empty() {
                out.push(one(knob, purpose, &relevant, titles, threshold_percent));
            }
        }
    }
    out
}

fn one(knob: &str, purpose: Use, effects: &[&Effect], titles: &Titles, threshold_percent: f64) -> Recommendation {
    let question = Question { title: titles.title(knob), found: titles.found(knob), effects, threshold_percent };
    let advice = if purpose == Use::Battery { question.to_save() } else { question.to_perform() };
    let Advice { value, keep_saving, sentence } = advice;
    Recommendation { knob: knob.into(), purpose, value, keep_saving, sentence }
}

#[cfg(test)]
mod tests;
