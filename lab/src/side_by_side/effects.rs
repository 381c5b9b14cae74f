//! Effects, knob by knob.

use crate::design::kind;
use protocol::experiment::side_by_side::{Change, EffectCell, EffectRow};
use protocol::experiment::{Base, Effect, ExperimentFile, Metric, Stage};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What effects on different sides have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question<'a> {
    knob: &'a str,
    base: Option<Base>,
    stage: Option<Stage>,
    workload: &'a str,
    metric: Metric,
    primary: bool,
}

/// A row for each question, those that verdicts rest on first. Several values of one knob are told apart by value;
/// where each side has one, it is the same question though the values are called differently.
pub(super) fn rows(files: &[ExperimentFile]) -> Vec<EffectRow> {
    let plain = unambiguous(files);
    let mut questions: Vec<(Question<'_>, Vec<Vec<&Effect>>)> = Vec::new();
    let mut places: HashMap<Question<'_>, usize> = HashMap::new();
    for (side, file) in files.iter().enumerate() {
        for e in &file.report.effects {
            let question = Question {
                knob: if plain.contains(kind(&e.knob)) { kind(&e.knob) } else { &e.knob },
                base: e.base,
                stage: e.stage,
                workload: &e.workload,
                metric: e.metric,
                primary: e.primary,
            };
            let place = *places.entry(question.clone()).or_insert_with(|| {
                questions.push((question, vec![Vec::new(); files.len()]));
                questions.len() - 1
            });
            if let Some(effects) = questions.get_mut(place).and_then(|(_, sides)| sides.get_mut(side)) {
                effects.push(e);
            }
        }
    }
    let mut out: Vec<EffectRow> = questions.iter().flat_map(|(q, sides)| answers(q, sides)).collect();
    out.sort_by_key(|row| !row.primary);
    out
}

/// Kinds of knobs of which no side has more than one device.
fn unambiguous(files: &[ExperimentFile]) -> BTreeSet<&str> {
    let mut most: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for e in &file.report.effects {
            ids.entry(kind(&e.knob)).or_default().insert(&e.knob);
        }
        for (kind, ids) in ids {
            let most = most.entry(kind).or_default();
            *most = (*most).max(ids.len());
        }
    }
    most.into_iter().filter(|(_, most)| *most == 1).map(|(kind, _)| kind).collect()
}

fn answers(question: &Question<'_>, sides: &[Vec<&Effect>]) -> Vec<EffectRow> {
    if sides.iter().all(|effects| effects.len() <= 1) {
        return vec![row(question, sides.iter().map(|effects| effects.first().copied()).collect())];
    }
    let mut values: Vec<(&str, &str)> = Vec::new();
    for e in sides.iter().flatten() {
        if !values.contains(&(&e.from, &e.to)) {
            values.push((&e.from, &e.to));
        }
    }
    let of = |(from, to): (&str, &str)| -> Vec<Option<&Effect>> {
        sides.iter().map(|effects| effects.iter().copied().find(|e| e.from == from && e.to == to)).collect()
    };
    values.into_iter().map(|pair| row(question, of(pair))).collect()
}

fn row(q: &Question<'_>, effects: Vec<Option<&Effect>>) -> EffectRow {
    let first = effects.first().copied().flatten();
    let cell = |(n, e): (usize, Option<&Effect>)| {
        let against = |e: &Effect| first.filter(|_| n > 0).and_then(|first| change(first, e));
        e.map(|e| EffectCell { against_first: against(e), ..cell(e) })
    };
    EffectRow {
        knob: q.knob.to_owned(),
        base: q.base,
        stage: q.stage,
        workload: q.workload.to_owned(),
        metric: q.metric,
        primary: q.primary,
        cells: effects.into_iter().enumerate().map(cell).collect(),
    }
}

fn cell(e: &Effect) -> EffectCell {
    EffectCell {
        knob: e.knob.clone(),
        from: e.from.clone(),
        to: e.to.clone(),
        estimate_percent: e.estimate_percent,
        low_percent: e.low_percent,
        high_percent: e.high_percent,
        verdict: e.verdict,
        blocks: e.blocks,
        saves_w: e.saves_w,
        against_first: None,
    }
}

/// What the second leaves of performance over what the first leaves. Each interval holds with the confidence of its own
/// experiment, so this one holds whenever both do.
fn change(first: &Effect, second: &Effect) -> Option<Change> {
    let ratio = |a: f64, b: f64| {
        let percent = 100.0 * ((1.0 + b / 100.0) / (1.0 + a / 100.0) - 1.0);
        (a > -100.0 && percent.is_finite()).then_some(percent)
    };
    Some(Change {
        estimate_percent: ratio(first.estimate_percent?, second.estimate_percent?)?,
        low_percent: first.high_percent.zip(second.low_percent).and_then(|(a, b)| ratio(a, b)),
        high_percent: first.low_percent.zip(second.high_percent).and_then(|(a, b)| ratio(a, b)),
    })
}
