//! The verdict on the whole, and what to do with each knob for whom.

mod decision;

use crate::words::{self, Titles, WAIT};
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
    let found = |finding: Finding| -> BTreeSet<Subject<'_>> {
        primary.iter().filter(|e| e.verdict == finding).map(|e| Subject::of(e)).collect()
    };
    let (brakes, undecided) = (found(Finding::Brake), found(Finding::Undecided));
    let seem = primary.iter().filter(|e| words::seems(e, threshold_percent) == Some(Finding::Brake));
    let seem: BTreeSet<_> = seem.map(|e| Subject::of(e)).filter(|s| !brakes.contains(s)).collect();
    let undecided: Vec<_> = undecided.difference(&brakes).copied().collect();
    let (suspects, unclear): (Vec<_>, Vec<_>) = undecided.iter().partition(|s| seem.contains(s));
    let said = |what: &str, subjects: Vec<Subject<'_>>| {
        let named: Vec<_> = subjects.into_iter().map(|s| s.named(titles)).collect();
        if named.is_empty() { String::new() } else { format!(" {what}: {}.", named.join(", ")) }
    };
    let helps = found(Finding::Helps).difference(&brakes).copied().collect::<Vec<_>>();
    let (saving, other): (Vec<_>, Vec<_>) = helps.into_iter().partition(|s| titles.can_save(s.knob));
    let gains: String = other.iter().filter_map(|s| Some(format!(" {}", s.most(&primary)?.sentence))).collect();
    let open = gains
        + &said("Faster with the saving value", saving)
        + &said("Looks like a brake, to be confirmed", suspects)
        + &said("Undecided", unclear);
    let is_on = |e: &Effect| titles.is_found(&e.knob, &e.to).unwrap_or(e.knob != WAIT);
    let mut costs: Vec<_> = primary.iter().filter(|e| e.verdict == Finding::Brake).collect();
    // Of those that are on first.
    let size = |e: &Effect| e.estimate_percent.unwrap_or(0.0);
    costs.sort_by(|a, b| is_on(b).cmp(&is_on(a)).then(size(a).total_cmp(&size(b))));
    let Some(worst) = costs.first() else {
        let so_far = if undecided.is_empty() { "" } else { " so far" };
        return format!(
            "No brake found{so_far}: {} is shown to cost more than {threshold_percent} %.{open}",
            nothing(&primary)
        );
    };
    let on: BTreeSet<_> = costs.iter().filter(|e| is_on(e)).map(|e| Subject::of(e)).collect();
    let others = brakes.iter().copied().filter(|s| *s != Subject::of(worst));
    let (too, off): (Vec<_>, Vec<_>) = others.partition(|s| on.is_empty() || on.contains(s));
    let also = said("Brakes too", too) + &said("Brakes that are not on now", off);
    let start = match () {
        // No program of the host is asked how it waits.
        () if worst.knob == WAIT => "",
        () if on.is_empty() => "There are brakes, none of them on now. ",
        () => "The brakes are on. ",
    };
    format!("{start}{}{also}{open}", worst.sentence)
}

/// What a verdict is on: a knob, or one way to wait, each of which is something of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Subject<'a> {
    knob: &'a str,
    way: Option<&'a str>,
}

impl<'a> Subject<'a> {
    fn of(e: &'a Effect) -> Self {
        Self { knob: &e.knob, way: (e.knob == WAIT).then_some(e.to.as_str()) }
    }

    fn named(self, titles: &Titles) -> String {
        self.way.map_or_else(|| titles.title(self.knob).to_owned(), |way| format!("waiting with {way}"))
    }

    /// The effect on it that helps most.
    fn most<'e>(self, effects: &[&'e Effect]) -> Option<&'e Effect> {
        let size = |e: &Effect| e.estimate_percent.unwrap_or(0.0);
        let own = effects.iter().copied().filter(|e| e.verdict == Finding::Helps && Subject::of(e) == self);
        own.max_by(|a, b| size(a).total_cmp(&size(b)))
    }
}

/// What is not shown to cost anything.
fn nothing(effects: &[&Effect]) -> &'static str {
    if effects.iter().all(|e| e.knob == WAIT) { "no way to wait" } else { "no setting" }
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
        // Nothing is to be advised to save power of what cannot.
        for purpose in Use::ALL.into_iter().filter(|p| *p != Use::Battery || titles.can_save(knob)) {
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
