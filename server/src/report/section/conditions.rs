//! What was not compared, and under which conditions the rest was.

use super::table::{Column, table};
use super::{behind, section};
use crate::report::data::Data;
use crate::report::figures::NONE;
use crate::report::markup::Markup;
use protocol::host::Link;

const KNOBS: [Column; 5] =
    [("id", true), ("setting", true), ("as found", true), ("in detail", true), ("not to be set because", true)];

pub(super) fn write(m: &mut Markup, data: &Data<'_>) {
    let unmapped = &data.file.report.unmapped;
    if !unmapped.is_empty() {
        section(m, "Not compared", |m| {
            let rows = unmapped.iter().map(|u| vec![u.setting.clone(), u.reason.clone()]);
            table(m, &[("setting", true), ("why not", true)], rows);
        });
    }
    section(m, "Conditions", |m| {
        m.classed("dl", "given", |m| {
            for (name, fact) in facts(data) {
                m.leaf("dt", name);
                m.leaf("dd", fact.as_deref().unwrap_or("unknown"));
            }
        });
        let knobs = &data.file.experiment.knobs;
        behind(m, &format!("All {} settings as found", knobs.len()), |m| {
            let text = |t: &Option<String>| t.clone().unwrap_or_else(|| NONE.into());
            let rows = knobs.iter().map(|k| {
                let found = k.original.clone().or_else(|| k.value.clone());
                vec![k.id.clone(), k.title.clone(), text(&found), text(&k.detail), text(&k.reason)]
            });
            table(m, &KNOBS, rows);
        });
    });
}

fn facts(data: &Data<'_>) -> Vec<(&'static str, Option<String>)> {
    let record = &data.file.experiment;
    let (host, target, spec) = (&record.host, &record.target, &data.file.report.spec);
    let drive = record.drive.clone().unwrap_or_default();
    let link = |l: &Link| match &l.max {
        Some(max) if *max != l.current => format!("{} of {max}", l.current),
        _ => l.current.clone(),
    };
    let supply = host.on_ac.map(|ac| if ac { "mains" } else { "battery" }.to_owned());
    let cpus = host.cpus.map(|n| format!(", {n} CPUs online")).unwrap_or_default();
    // Where not even the kernel is known, nobody looked.
    let none = host.kernel.as_ref().map(|_| "none".to_owned());
    let daemons = if host.daemons.is_empty() { none.clone() } else { Some(host.daemons.join(", ")) };
    vec![
        ("Experiment", Some(record.id.clone())),
        ("Design", Some(format!("{}: {}", spec.design, spec.design.question()))),
        ("Seed", spec.seed.map(|s| s.to_string())),
        ("Blocks", Some(format!("{} to {}", spec.min_blocks, spec.max_blocks))),
        ("Threshold, confidence", Some(format!("{} %, {} %", spec.threshold_percent, 100.0 * spec.confidence))),
        ("Started", Some(record.started_at.clone())),
        ("Ended", data.file.finished_at.clone()),
        ("Brakecheck", Some(record.version.clone())),
        ("Host", host.hostname.clone()),
        ("Machine", host.machine.clone()),
        ("System", host.os.clone()),
        ("Kernel", host.kernel.clone()),
        ("CPU", host.cpu_model.as_ref().map(|c| format!("{c}{cpus}"))),
        ("Virtualisation", host.virtualization.clone().or(none)),
        ("Power supply", supply),
        ("Daemons that change settings", daemons),
        ("Target", Some(target.path.clone())),
        ("Filesystem", target.filesystem.clone()),
        ("Drive", drive.model.clone()),
        ("Firmware", drive.firmware.clone()),
        ("Link", drive.link.as_ref().map(link)),
        ("Scheduler", drive.scheduler.clone()),
    ]
}
