//! The verdict on the whole, and what to do with each knob for whom.

use crate::words::{self, Titles};
use protocol::experiment::{Effect, Finding, Recommendation, Use};
use protocol::workload::Workload;
use std::collections::BTreeSet;

/// Power in W below which a saving is none.
const SOME_POWER: f64 = 0.05;

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
    let open = said("Looks like a brake, to be confirmed", suspects) + &said("Undecided", unclear);
    let mut costs: Vec<_> = primary.iter().filter(|e| e.verdict == Finding::Brake).collect();
    costs.sort_by(|a, b| a.estimate_percent.unwrap_or(0.0).total_cmp(&b.estimate_percent.unwrap_or(0.0)));
    let Some(worst) = costs.first() else {
        let so_far = if undecided.is_empty() { "" } else { " so far" };
        return format!("No brake found{so_far}: no setting is shown to cost more than {threshold_percent} %.{open}");
    };
    let others: Vec<_> = brakes.iter().filter(|k| **k != worst.knob).map(|k| titles.title(k)).collect();
    let also = if others.is_empty() { String::new() } else { format!(" Brakes too: {}.", others.join(", ")) };
    let is_on = |e: &&&Effect| titles.found(&e.knob).is_none_or(|found| found == e.to);
    let start = if costs.iter().any(is_on) { "The brakes are on." } else { "There are brakes, none of them on now." };
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
    let title = titles.title(knob);
    let make = |value: Option<&str>, keep_saving: Option<bool>, sentence: String| Recommendation {
        knob: knob.into(),
        purpose,
        value: value.map(Into::into),
        keep_saving,
        sentence,
    };
    // Of several saving values the first that is good enough.
    let mut values: Vec<&str> = Vec::new();
    for e in effects {
        if !values.contains(&e.to.as_str()) {
            values.push(&e.to);
        }
    }
    let with = |value: &str| effects.iter().copied().filter(|e| e.to == value).collect::<Vec<_>>();
    let has = |value: &str, finding: Finding| with(value).iter().any(|e| e.verdict == finding);
    let power = |value: &str| with(value).iter().find_map(|e| e.saves_w);
    let saves = |value: &str| {
        power(value).filter(|w| *w >= SOME_POWER).map_or(String::new(), |w| format!(" and saves {w:.1} W at idle"))
    };
    let brake = |value: &str| {
        let brakes = with(value).into_iter().filter(|e| e.verdict == Finding::Brake);
        brakes.min_by(|a, b| a.estimate_percent.unwrap_or(0.0).total_cmp(&b.estimate_percent.unwrap_or(0.0)))
    };
    if purpose == Use::Battery {
        let Some(value) = values.first() else { return make(None, None, format!("{title}: nothing measured.")) };
        return match (brake(value), power(value)) {
            (Some(e), Some(w)) if w < SOME_POWER => make(
                Some(&e.from),
                Some(false),
                format!("Set {title} to {}: it saves no power here. {}", e.from, e.sentence),
            ),
            (Some(e), _) => make(
                Some(value),
                Some(true),
                format!("Leave {title} at {value}, if power matters more. {}", e.sentence),
            ),
            (None, _) => {
                make(Some(value), Some(true), format!("Leave {title} at {value}: no cost is shown{}.", saves(value)))
            }
        };
    }
    let good = values.iter().find(|v| !has(v, Finding::Brake) && !has(v, Finding::Undecided));
    if let Some(value) = good {
        let sentence = format!("Leave {title} at {value}: it costs less than {threshold_percent} %{}.", saves(value));
        return make(Some(value), Some(true), sentence);
    }
    if let Some(open) = effects.iter().find(|e| e.verdict == Finding::Undecided && !has(&e.to, Finding::Brake)) {
        return make(None, None, format!("Not known yet. {}", open.sentence));
    }
    match values.iter().find_map(|v| brake(v)) {
        Some(e) => make(Some(&e.from), Some(false), format!("Set {title} to {}. {}", e.from, e.sentence)),
        None => make(None, None, format!("{title}: nothing measured.")),
    }
}
