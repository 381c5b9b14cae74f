//! What each saving value costs.

use super::table::{Column, behind_chart};
use super::{figure, section};
use crate::report::chart::cost::{Cost, Group, draw};
use crate::report::data::Data;
use crate::report::figures::{interval, metric, percent, saving};
use crate::report::markup::Markup;
use protocol::experiment::{Base, Design, Effect, Finding, Stage};

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    let groups = groups(data);
    if groups.is_empty() || data.counted().next().is_none() {
        return;
    }
    let spec = &data.file.report.spec;
    section(m, "What each setting costs", |m| {
        let confidence = 100.0 * spec.confidence;
        let caption = format!(
            "Change of performance by the saving value, in percent: negative is slower. Bars are estimates, lines over \
             them {confidence} % intervals that hold together and at every look, n is the number of blocks, points are \
             single blocks where there are fewer than 100. Dashed: the threshold of {} %.",
            spec.threshold_percent
        );
        figure(m, &caption, |m| draw(m, &groups, spec.threshold_percent));
        behind_chart(m, &COLUMNS, data.file.report.effects.iter().map(|e| row(data, e)).collect());
    });
}

const COLUMNS: [Column; 11] = [
    ("setting", true),
    ("value", true),
    ("against", true),
    ("workload", true),
    ("metric", true),
    ("change", false),
    ("interval", false),
    ("blocks", false),
    ("verdict", true),
    ("saves at idle", false),
    ("rests on", true),
];

fn row(data: &Data<'_>, e: &Effect) -> Vec<String> {
    let stage = match e.stage {
        Some(Stage::Screening) => "screening",
        Some(Stage::Confirmation) => "confirmation",
        None => "all blocks",
    };
    vec![
        format!("{}{}", data.titles.title(&e.knob), rest(e.base)),
        e.to.clone(),
        e.from.clone(),
        e.workload.clone(),
        metric(e.metric).into(),
        e.estimate_percent.map_or(crate::report::figures::NONE.into(), percent),
        interval(e.low_percent, e.high_percent),
        e.blocks.to_string(),
        if e.primary { e.verdict.name().into() } else { format!("{} (not decisive)", e.verdict) },
        saving(e),
        stage.into(),
    ]
}

fn rest(base: Option<Base>) -> &'static str {
    match base {
        Some(Base::AllSaving) => ", all else saving",
        Some(Base::AllPerformance) => ", all else performing",
        _ => "",
    }
}

/// Effects that verdicts rest on, by comparison; those that cost most first, but for ladders, which have an order.
pub(in crate::report) fn groups<'a>(data: &Data<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for effect in data.file.report.effects.iter().filter(|e| e.primary) {
        let cost = Cost { effect, differences: data.differences(effect) };
        let same = |g: &&mut Group<'_>| {
            g.costs.first().is_some_and(|c| {
                let e = c.effect;
                (&e.knob, &e.from, &e.to, e.base, e.stage)
                    == (&effect.knob, &effect.from, &effect.to, effect.base, effect.stage)
            })
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.costs.push(cost),
            None => groups.push(Group {
                title: data.titles.title(&effect.knob).to_owned(),
                compared: compared(data, effect),
                costs: vec![cost],
            }),
        }
    }
    if !climbs(data.file.report.spec.design) {
        let worst =
            |g: &Group<'_>| g.costs.iter().filter_map(|c| c.effect.estimate_percent).fold(f64::INFINITY, f64::min);
        groups.sort_by(|a, b| worst(a).total_cmp(&worst(b)));
    }
    groups
}

/// Whether the configurations of a design follow one another.
pub(in crate::report) fn climbs(design: Design) -> bool {
    matches!(design, Design::Ladder | Design::X58Gigabyte | Design::X58Supermicro)
}

fn compared(data: &Data<'_>, e: &Effect) -> String {
    let stage = if e.stage == Some(Stage::Screening) { ", screening" } else { "" };
    // Said only where there are both.
    let base = if data.file.report.effects.iter().any(|other| other.base != e.base) { rest(e.base) } else { "" };
    format!("{} instead of {}{base}{stage}", e.to, e.from)
}

/// The effect that says most about a comparison: its largest cost, else its largest gain, else what is open.
pub(super) fn telling<'a>(costs: &[Cost<'a>]) -> Option<&'a Effect> {
    let rank = |e: &Effect| match e.verdict {
        Finding::Brake => 0,
        Finding::Helps => 1,
        Finding::Undecided => 2,
        Finding::Free => 3,
    };
    let size = |e: &Effect| -e.estimate_percent.unwrap_or_default().abs();
    costs.iter().map(|c| c.effect).min_by(|a, b| rank(a).cmp(&rank(b)).then(size(a).total_cmp(&size(b))))
}
