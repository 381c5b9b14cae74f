//! Power at idle, and energy at work.

use super::levels::levels;
use super::table::{Column, behind_chart, table};
use super::{figure, section};
use crate::report::chart::levels::draw;
use crate::report::data::Data;
use crate::report::figures::{digits, value};
use crate::report::markup::Markup;
use lab::summary::Summary;
use protocol::experiment::Metric;
use protocol::experiment::workloads::IDLE;

const COLUMNS: [Column; 6] = [
    ("configuration", true),
    ("workload", true),
    ("energy per access", false),
    ("J/GB", false),
    ("IOPS/W", false),
    ("trials", false),
];

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    let idle = levels(data, IDLE, Metric::IdlePower, false);
    let has_idle = idle.iter().any(|l| !l.values.is_empty());
    let work = rows(data);
    if !has_idle && work.is_empty() {
        section(m, "Power", |m| m.leaf("p", "Nothing here measures power, so what the savings save is not known."));
        return;
    }
    section(m, "Power", |m| {
        if has_idle {
            let caption = "Power at idle under each configuration, median over trials; points are trials.";
            figure(m, caption, |m| draw(m, &idle, Metric::IdlePower, false, caption));
            let row = |l: &crate::report::chart::levels::Level| {
                let median = Summary::of(&l.values).map(|s| value(Metric::IdlePower, s.median));
                Some(vec![l.name.clone(), median?, l.values.len().to_string()])
            };
            let columns = [("configuration", true), ("median power at idle", false), ("trials", false)];
            behind_chart(m, &columns, idle.iter().filter_map(row).collect());
        }
        if !work.is_empty() {
            m.leaf("h3", "At work, medians over trials");
            table(m, &COLUMNS, work);
        }
    });
}

fn rows(data: &Data<'_>) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (workload, _) in &data.workloads {
        for (i, c) in data.configurations().iter().enumerate() {
            let of = |metric| data.values(i, workload, metric);
            let energies = of(Metric::EnergyPerIo);
            let Some(energy) = Summary::of(&energies).map(|s| s.median) else { continue };
            let median = |metric| Summary::of(&of(metric)).map(|s| s.median);
            let bytes = median(Metric::Bw).zip(median(Metric::Iops)).map(|(bw, iops)| bw / iops);
            rows.push(vec![
                c.name.clone(),
                (*workload).to_owned(),
                value(Metric::EnergyPerIo, energy),
                bytes.map_or_else(String::new, |b| digits(energy / b * 1e9)),
                digits(1.0 / energy),
                energies.len().to_string(),
            ]);
        }
    }
    rows
}
