//! The conditions of a run as rows of a table, and how those of two runs differ.

use super::run::RunModel;
use crate::format;
use protocol::host::TargetKind;
use protocol::result::IoPathKind;
use protocol::run::RunRecord;

/// One condition: a name and a value in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition {
    /// What.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) value: String,
}

/// Everything that is known of a run's conditions, what matters most first. What is not known has no row.
pub(crate) fn conditions(record: &RunRecord) -> Vec<Condition> {
    let mut rows = Vec::new();
    let mut put = |name, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            rows.push(Condition { name, value });
        }
    };
    let (target, host, engine) = (&record.target, &record.host, &record.engine);
    if let Some(drive) = &record.drive {
        let size = drive.size.map(|s| format!("{} GB", format::grouped(s.0 as f64 / 1e9)));
        let model = drive.model.clone().unwrap_or_else(|| drive.name.clone());
        put("Drive", Some(model));
        put("Device", Some(join(&[Some(drive.name.clone()), drive.bus.clone(), size], " \u{b7} ")));
        put("Firmware", drive.firmware.clone());
        put("Link", drive.link.as_ref().map(|l| l.current.clone()));
        let ceiling = drive.link.as_ref().and_then(|l| l.ceiling);
        put("Link ceiling", ceiling.map(|c| format::throughput(c).text()));
        put("Link at best", drive.link.as_ref().and_then(|l| l.max.clone().filter(|m| *m != l.current)));
        put("Narrowest part", drive.link.as_ref().and_then(|l| l.bottleneck.clone()));
        put("Temperature", drive.temperature_c.map(|t| format!("{t:.0} \u{b0}C")));
        put("Scheduler", drive.scheduler.clone());
        put("Write cache", drive.write_cache.clone());
        put("Layers", Some(join(&drive.layers.iter().map(|l| Some(l.kind.clone())).collect::<Vec<_>>(), " > ")));
        put("Other drives", Some(drive.other_drives.join(", ")));
    }
    put("Target", Some(kind_in_words(target.kind).into()));
    put("Filesystem", target.filesystem.clone());
    put("O_DIRECT", Some(path_in_words(record)));
    put("Wait mode", one_or_all(record.spec.steps.iter().map(|s| s.workload.wait.name())));
    let file = record.spec.file_size();
    put("File size", (target.kind == TargetKind::Directory && file.0 > 0).then(|| file.to_string()));
    put("Kernel", host.kernel.clone());
    put("System", host.os.clone());
    put("CPU", host.cpu_model.clone());
    put("CPUs online", host.cpus.map(|n| n.to_string()));
    put("Memory", host.memory.map(|m| m.to_string()));
    put("Machine", host.machine.clone());
    put("Runs in", host.virtualization.clone());
    put("Host", host.hostname.clone());
    put("Power", host.on_ac.map(|ac| if ac { "mains" } else { "battery" }.into()));
    for setting in &host.settings {
        if let Some(name) = setting_name(&setting.id) {
            put(name, Some(setting.value.clone()));
        }
    }
    put("Power daemons", Some(host.daemons.join(", ")));
    if let Some(ceiling) = engine.ceiling {
        put("Engine ceiling, QD1", Some(format::iops(ceiling.depth1).text()));
        put("Engine ceiling, QD32", Some(format::iops(ceiling.depth32).text()));
    }
    put("Version", Some(record.version.clone()));
    rows
}

/// Conditions that differ, with both values; those that make the numbers incomparable come first, since they are
/// listed first. Host name and version tell who, not how, and the engine's ceiling differs from start to start.
pub(crate) fn differences(a: &RunModel, b: &RunModel) -> Vec<(&'static str, String, String)> {
    let (left, right) = (conditions(&a.record), conditions(&b.record));
    let mut names: Vec<&'static str> = Vec::new();
    for c in left.iter().chain(&right) {
        if !names.contains(&c.name) && !c.name.starts_with("Engine ceiling") && c.name != "Temperature" {
            names.push(c.name);
        }
    }
    let value = |rows: &[Condition], name| {
        rows.iter().find(|c| c.name == name).map_or_else(|| "not known".to_owned(), |c| c.value.clone())
    };
    let pairs = names.into_iter().map(|n| (n, value(&left, n), value(&right, n)));
    pairs.filter(|(_, a, b)| a != b).collect()
}

/// What a target is, in words.
pub(crate) fn kind_in_words(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Directory => "own file in a directory",
        TargetKind::File => "existing file, read only",
        TargetKind::BlockDevice => "block device, read only",
    }
}

fn path_in_words(record: &RunRecord) -> String {
    let found = one_or_all(record.results.iter().map(|r| match r.path.kind {
        IoPathKind::Direct => "yes, proven by counters",
        IoPathKind::PageCache => "no, page cache",
        IoPathKind::Unverified => "yes, not proven",
    }));
    let asked = || match (record.spec.steps.iter().any(|s| s.workload.buffered), record.target.direct.supported) {
        (true, _) => "not used".into(),
        (false, true) => "available".into(),
        (false, false) => record.target.direct.evidence.clone(),
    };
    found.unwrap_or_else(asked)
}

/// The settings that have a name people know.
fn setting_name(id: &str) -> Option<&'static str> {
    Some(match id {
        "cpu.governor" => "CPU governor",
        "cpu.epp" => "Energy preference",
        "cpu.turbo" => "Turbo",
        "cpu.smt" => "SMT",
        "cpu.idle-driver" => "Idle driver",
        "cpu.deep-idle" => "Deep idle states",
        "pcie.aspm" => "PCIe ASPM",
        "platform.profile" => "Platform profile",
        _ if id.starts_with("sata.link-power") => "SATA link power",
        _ if id.starts_with("nvme.apst") => "NVMe APST",
        _ => return None,
    })
}

fn join(parts: &[Option<String>], by: &str) -> String {
    parts.iter().flatten().cloned().collect::<Vec<_>>().join(by)
}

/// The distinct values, in order.
fn one_or_all<'a>(values: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut distinct: Vec<&str> = Vec::new();
    values.for_each(|v| {
        if !distinct.contains(&v) {
            distinct.push(v);
        }
    });
    (!distinct.is_empty()).then(|| distinct.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::fixture;
    use protocol::host::{DriveFacts, Link};

    fn with_link(link: &str) -> RunModel {
        let mut record = fixture::record(1);
        let link = Link { current: link.into(), max: None, ceiling: None, bottleneck: None };
        record.drive = Some(DriveFacts { name: "nvme0n1".into(), link: Some(link), ..DriveFacts::default() });
        RunModel::new(record)
    }

    #[test]
    fn only_what_differs_is_named() {
        let (a, b) = (with_link("PCIe 3.0 x2"), with_link("PCIe 3.0 x4"));
        assert_eq!(differences(&a, &a), []);
        assert_eq!(differences(&a, &b), [("Link", "PCIe 3.0 x2".to_owned(), "PCIe 3.0 x4".to_owned())]);
    }

    #[test]
    fn a_condition_known_on_one_side_only_is_a_difference() {
        let (a, mut b) = (with_link("x"), with_link("x"));
        b.record.host.kernel = Some("6.18".into());
        assert_eq!(differences(&a, &b), [("Kernel", "not known".to_owned(), "6.18".to_owned())]);
    }
}
