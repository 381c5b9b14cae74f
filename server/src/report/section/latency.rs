//! Distributions of latency with and without each brake.

use super::table::{Column, behind_chart};
use super::{figure, section};
use crate::report::chart::latency::draw;
use crate::report::data::{Data, Quantiles};
use crate::report::figures::{NONE, time};
use crate::report::markup::Markup;
use protocol::experiment::{Effect, Finding};

const COLUMNS: [Column; 5] =
    [("comparison", true), ("workload", true), ("percentile", false), ("saving", false), ("performing", false)];
/// More would not be read; the table behind has the same ones.
const MOST: usize = 12;

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    // What costs or gains something; where nothing does, what is largest.
    let primary = || data.file.report.effects.iter().filter(|e| e.primary);
    let size = |e: &&Effect| e.estimate_percent.unwrap_or_default().abs();
    let mut shown: Vec<&Effect> = primary().filter(|e| matches!(e.verdict, Finding::Brake | Finding::Helps)).collect();
    if shown.is_empty() {
        shown.extend(primary().max_by(|a, b| size(a).total_cmp(&size(b))));
    }
    shown.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let with = |e: &&Effect| {
        let (to, from) = data.sides(e)?;
        let (saving, performing) = (data.quantiles(&to, &e.workload), data.quantiles(&from, &e.workload));
        (!saving.is_empty() && !performing.is_empty()).then_some((saving, performing))
    };
    let all: Vec<_> = shown.iter().filter_map(|e| Some((*e, with(e)?))).collect();
    if all.is_empty() {
        return;
    }
    section(m, "How latency is spread", |m| {
        if let Some(left_out) = all.len().checked_sub(MOST).filter(|n| *n > 0) {
            m.note("p", "fine", format!("The {MOST} largest changes; {left_out} smaller ones are left out."));
        }
        m.classed("div", "charts", |m| {
            for (e, (saving, performing)) in all.iter().take(MOST) {
                let names = (format!("{} {}", title(data, e), e.to), format!("{} {}", title(data, e), e.from));
                let caption = format!(
                    "{}: latency below which a share of the accesses stays, median over trials; both axes are \
                     logarithmic.",
                    e.workload
                );
                figure(m, &caption, |m| draw(m, (&names.0, saving), (&names.1, performing), &caption));
            }
        });
        let rows = all.iter().take(MOST).flat_map(|(e, (saving, performing))| rows(data, e, saving, performing));
        behind_chart(m, &COLUMNS, rows.collect());
    });
}

fn title<'a>(data: &'a Data<'_>, e: &'a Effect) -> &'a str {
    data.titles.title(&e.knob)
}

fn rows(data: &Data<'_>, e: &Effect, saving: &Quantiles, performing: &Quantiles) -> Vec<Vec<String>> {
    let of = |all: &Quantiles, p: f64| {
        let found = all.iter().find(|(q, _)| q.total_cmp(&p).is_eq());
        found.map_or(NONE.into(), |(_, ns)| time(*ns))
    };
    let mut percentiles: Vec<f64> = saving.iter().chain(performing).map(|(p, _)| *p).collect();
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup_by(|a, b| a.total_cmp(b).is_eq());
    let row = |p: f64| {
        let comparison = format!("{}: {} against {}", title(data, e), e.to, e.from);
        vec![comparison, e.workload.clone(), format!("{p} %"), of(saving, p), of(performing, p)]
    };
    percentiles.into_iter().map(row).collect()
}
