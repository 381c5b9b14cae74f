//! Conditions that are not the same on all sides.

use crate::design::kind;
use protocol::experiment::side_by_side::Difference;
use protocol::experiment::{ExperimentFile, ExperimentRecord};
use protocol::knob::Knob;
use protocol::units::{Micros, Seconds};
use protocol::workload::Workload;
use std::collections::BTreeSet;

type Fact = fn(&ExperimentRecord) -> Option<String>;

/// What is the same kind of thing on every side.
const FACTS: [(&str, Fact); 20] = [
    ("link", |r| r.drive.as_ref()?.link.as_ref().map(|l| l.current.clone())),
    ("narrowest part of the path", |r| r.drive.as_ref()?.link.as_ref()?.bottleneck.clone()),
    ("drive", |r| r.drive.as_ref()?.model.clone()),
    ("firmware", |r| r.drive.as_ref()?.firmware.clone()),
    ("capacity", |r| Some(format!("{} GB", r.drive.as_ref()?.size?.0 / 1_000_000_000))),
    ("kind of target", |r| Some(target_kind(r).into())),
    ("filesystem", |r| r.target.filesystem.clone()),
    ("scheduler", |r| r.drive.as_ref()?.scheduler.clone()),
    ("write cache", |r| r.drive.as_ref()?.write_cache.clone()),
    ("machine", |r| r.host.machine.clone()),
    ("CPU", |r| r.host.cpu_model.clone()),
    ("CPUs online", |r| r.host.cpus.map(|n| n.to_string())),
    ("kernel", |r| r.host.kernel.clone()),
    ("system", |r| r.host.os.clone()),
    ("virtualisation", |r| Some(r.host.virtualization.clone().unwrap_or_else(|| "none".into()))),
    ("power supply", |r| r.host.on_ac.map(|ac| if ac { "mains" } else { "battery" }.into())),
    ("daemons that change settings", |r| Some(list(&r.host.daemons))),
    ("version of Brakecheck", |r| Some(r.version.clone())),
    ("threshold", |r| Some(format!("{} %", r.spec.threshold_percent))),
    ("confidence", |r| Some(format!("{} %", 100.0 * r.spec.confidence))),
];

fn target_kind(record: &ExperimentRecord) -> &'static str {
    use protocol::host::TargetKind::{BlockDevice, Directory, File};
    match record.target.kind {
        Directory => "directory",
        File => "file",
        BlockDevice => "block device",
    }
}

fn list(items: &[String]) -> String {
    if items.is_empty() { "none".into() } else { items.join(", ") }
}

/// All of them, those that forbid a comparison of speeds first.
pub(super) fn differences(files: &[ExperimentFile]) -> Vec<Difference> {
    let records: Vec<_> = files.iter().map(|f| &f.experiment).collect();
    let mut all: Vec<Difference> = page_cache(&records).into_iter().collect();
    all.extend(apart(&records));
    all.extend(workloads(&records));
    for (what, fact) in FACTS {
        all.extend(differing(what, records.iter().map(|r| fact(r)).collect()));
    }
    all.extend(configurations(&records));
    all.extend(settings(&records));
    all.sort_by_key(|d| !d.forbids);
    all
}

/// A difference, where there is one. What only some sides know is one.
fn differing(what: &str, values: Vec<Option<String>>) -> Option<Difference> {
    let first = values.first()?;
    values.iter().any(|v| v != first).then(|| named(what, values, false))
}

fn named(what: &str, values: Vec<Option<String>>, forbids: bool) -> Difference {
    let said: Vec<_> = values.iter().map(|v| v.as_deref().unwrap_or("unknown")).collect();
    let prefix = if forbids { "not comparable: " } else { "" };
    let sentence = format!("{prefix}{what}: {}", said.join(" against "));
    Difference { what: what.to_owned(), values, forbids, sentence }
}

/// What went through the page cache says nothing of the drive, also where it did so on every side.
fn page_cache(records: &[&ExperimentRecord]) -> Option<Difference> {
    let cached =
        |r: &&ExperimentRecord| !r.target.direct.supported || r.spec.expanded_workloads().iter().any(|w| w.buffered);
    let name = |r: &&ExperimentRecord| Some(if cached(r) { "page cache" } else { "direct" }.to_owned());
    records.iter().any(cached).then(|| named("page cache", records.iter().map(name).collect(), true))
}

/// Where no workload is on two sides there is nothing to compare.
fn apart(records: &[&ExperimentRecord]) -> Option<Difference> {
    let names = |r: &&ExperimentRecord| r.spec.expanded_workloads().iter().map(Workload::label).collect::<Vec<_>>();
    let all: Vec<_> = records.iter().map(names).collect();
    let mut seen = BTreeSet::new();
    let alone = all.iter().flat_map(|side| side.iter().collect::<BTreeSet<_>>()).all(|name| seen.insert(name.clone()));
    if !alone || records.len() < 2 {
        return None;
    }
    let difference = named("workloads", all.iter().map(|side| Some(list(side))).collect(), true);
    let sentence = format!("nothing can be compared, since no workload is on two sides: {}", difference.sentence);
    Some(Difference { sentence: sentence.replace("not comparable: ", ""), ..difference })
}

/// Workloads that go by one name and do different things.
fn workloads(records: &[&ExperimentRecord]) -> Vec<Difference> {
    let all: Vec<Vec<Workload>> = records.iter().map(|r| r.spec.expanded_workloads()).collect();
    let mut seen = BTreeSet::new();
    let names = all.iter().flatten().map(Workload::label).filter(|l| seen.insert(l.clone()));
    let mut out = Vec::new();
    for name in names {
        let same: Vec<_> = all.iter().map(|side| side.iter().find(|w| w.label() == name)).collect();
        let said = |of: fn(&Workload) -> String| -> Vec<Option<String>> { same.iter().map(|w| w.map(of)).collect() };
        let known = |values: &[Option<String>]| values.iter().flatten().collect::<BTreeSet<_>>().len() > 1;
        let accesses = said(|w| timeless(w).command_line());
        if known(&accesses) {
            out.push(named(&format!("workload {name}"), accesses, true));
        }
        let time = said(|w| w.runtime.to_string());
        if known(&time) {
            out.push(named(&format!("time of {name}"), time, false));
        }
    }
    out
}

/// The accesses alone: how long, and where the dice fall, does not matter.
fn timeless(w: &Workload) -> Workload {
    let none = Seconds(Micros(0));
    Workload { name: None, runtime: none, ramp_time: none, randseed: 0, ..w.clone() }
}

/// Configurations that go by one name and are different ones: "all-performance" of another set of knobs.
fn configurations(records: &[&ExperimentRecord]) -> Vec<Difference> {
    let settings = |r: &ExperimentRecord, name: &str| {
        let configuration = r.configurations.iter().find(|c| c.name == name)?;
        Some(configuration.set.iter().map(|a| format!("{}={}", kind(&a.id), a.value)).collect::<BTreeSet<_>>())
    };
    let Some(first) = records.first() else { return Vec::new() };
    let mut out = Vec::new();
    for name in first.configurations.iter().map(|c| c.name.as_str()) {
        let sets: Option<Vec<BTreeSet<String>>> = records.iter().map(|r| settings(r, name)).collect();
        let Some(sets) = sets else { continue };
        let common = sets.iter().skip(1).fold(sets.first().cloned().unwrap_or_default(), |all, s| &all & s);
        let own = sets.iter().map(|s| Some(list(&(s - &common).into_iter().collect::<Vec<_>>())));
        out.extend(differing(&format!("settings of {name}"), own.collect()));
    }
    out
}

/// Settings that no side changed, as they were found.
fn settings(records: &[&ExperimentRecord]) -> Vec<Difference> {
    let touched: BTreeSet<&str> = records.iter().flat_map(|r| r.touched()).map(kind).collect();
    let found = |r: &ExperimentRecord, id: &str| {
        let as_found = |k: &Knob| k.original.clone().or_else(|| k.value.clone());
        r.knobs.iter().find(|k| k.id == id).and_then(as_found)
    };
    let Some(first) = records.first() else { return Vec::new() };
    let untouched = first.knobs.iter().map(|k| k.id.as_str()).filter(|id| !touched.contains(kind(id)));
    // A device of this name may not be there on another host; that is no difference of a setting.
    let everywhere = untouched.filter_map(|id| {
        let values: Vec<_> = records.iter().map(|r| found(r, id)).collect();
        values.iter().all(Option::is_some).then(|| differing(id, values)).flatten()
    });
    everywhere.collect()
}
