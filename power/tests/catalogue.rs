//! The catalogue on every recorded machine, against a plain reading of the same files.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use power::Root;
use power::control::{Control, Hints, controls};
use protocol::knob::Group;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Every id of the contract, without instances.
const IDS: [&str; 34] = [
    "cpu.turbo",
    "cpu.smt",
    "cpu.cores",
    "cpu.c1e",
    "cpu.deep-idle",
    "cpu.latency-limit",
    "cpu.governor",
    "cpu.epp",
    "cpu.epb",
    "cpu.frequency-floor",
    "platform.profile",
    "pcie.aspm",
    "pcie.aspm-l0s",
    "pcie.aspm-l1",
    "pcie.aspm-l1.1",
    "pcie.aspm-l1.2",
    "pcie.clock-pm",
    "pcie.link-speed",
    "pci.runtime-pm",
    "sata.link-power",
    "sata.ncq",
    "nvme.apst",
    "nvme.power-state",
    "block.scheduler",
    "block.nomerges",
    "block.rq-affinity",
    "block.wbt",
    "kernel.nmi-watchdog",
    "cpu.virtualization",
    "cpu.prochot",
    "cpu.thermal-monitor",
    "sata.mode",
    "cpu.idle-driver",
    "nvme.poll-queues",
];

fn list(root: &Root) -> Vec<Control> {
    controls(root, &Hints::default())
}

fn value<'a>(all: &'a [Control], id: &str) -> Option<&'a str> {
    all.iter().find(|c| c.id == id).and_then(|c| c.value.as_deref())
}

/// What must be true of any list, whatever the machine.
fn sound(root: &Root, all: &[Control], of: &str) {
    let bare: BTreeSet<&str> = all.iter().map(|c| c.id.split('@').next().unwrap()).collect();
    assert_eq!(bare, BTreeSet::from(IDS), "{of}");
    let ids: BTreeSet<&str> = all.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids.len(), all.len(), "{of}: each id once");
    assert!(all.windows(2).all(|w| w[0].group <= w[1].group), "{of}: in the order of the path");
    for c in all {
        let of = format!("{of}: {}", c.id);
        assert!(Group::ALL.contains(&c.group.unwrap()) && !c.title.is_empty() && !c.about.is_empty(), "{of}");
        let knob = c.knob();
        assert!(knob.writable || knob.reason.is_some(), "{of}: neither settable nor said why not");
        assert!(!knob.writable || knob.value.is_some(), "{of}: without its value it could not be put back");
        for end in [&c.saving, &c.performance].into_iter().flatten() {
            assert!(c.choice(end).is_some(), "{of}: {end} is no choice");
        }
        let names: BTreeSet<&str> = c.choices.iter().map(|choice| choice.value.as_str()).collect();
        assert_eq!(names.len(), c.choices.len(), "{of}: each value once");
        for choice in &c.choices {
            assert!(!choice.writes.is_empty(), "{of}={}: writes nothing", choice.value);
            for write in &choice.writes {
                assert_eq!(write.site.normalise(&write.value), write.value, "{of}");
                assert!(write.site.path(root).is_some_and(|path| root.exists(&path)), "{of}: {write:?}");
                let min_power = write.value.starts_with("min_power") || write.value == "forceoff";
                assert!(!min_power, "{of}: never written");
            }
        }
    }
}

/// First line of a file below the tree, read without the crate.
fn file(dir: &Path, path: &str) -> Option<String> {
    let text = std::fs::read_to_string(dir.join(path)).ok()?;
    text.lines().next().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty())
}

/// The values of one file of each numbered folder; `None` if they differ or there is none.
fn common_value(dir: &Path, folders: &str, prefix: &str, name: &str) -> Option<String> {
    let entries = std::fs::read_dir(dir.join(folders)).ok()?;
    let numbered = |n: &str| n.strip_prefix(prefix).is_some_and(|rest| rest.parse::<u32>().is_ok());
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).filter(|n| numbered(n));
    let values: BTreeSet<String> = names.filter_map(|n| file(dir, &format!("{folders}/{n}/{name}"))).collect();
    (values.len() == 1).then(|| values.into_iter().next())?
}

const CPU: &str = "sys/devices/system/cpu";

fn cpu_side(dir: &Path, all: &[Control], of: &str) {
    let policies = format!("{CPU}/cpufreq");
    for (id, name) in [("cpu.governor", "scaling_governor"), ("cpu.epp", "energy_performance_preference")] {
        if let Some(wanted) = common_value(dir, &policies, "policy", name) {
            assert_eq!(value(all, id), Some(wanted.as_str()), "{of}: {id}");
        }
    }
    if let Some(bias) = common_value(dir, CPU, "cpu", "power/energy_perf_bias") {
        let name = match bias.as_str() {
            "0" => "performance",
            "6" => "normal",
            "15" => "power",
            other => other,
        };
        assert_eq!(value(all, "cpu.epb"), Some(name), "{of}");
    }
    let turbo = match (file(dir, &format!("{CPU}/intel_pstate/no_turbo")), file(dir, &format!("{policies}/boost"))) {
        (Some(no), _) => Some(no == "0"),
        (None, boost) => boost.map(|b| b == "1"),
    };
    assert_eq!(value(all, "cpu.turbo"), turbo.map(|on| if on { "on" } else { "off" }), "{of}");
    if let Some(smt) = file(dir, &format!("{CPU}/smt/control")) {
        assert_eq!(value(all, "cpu.smt"), Some(smt.as_str()), "{of}");
    }
    // Nobody had disabled a state on any of them, so the deepest that the driver does not keep off is allowed.
    let state = |n: u32, name: &str| file(dir, &format!("{CPU}/cpu0/cpuidle/state{n}/{name}"));
    let usable = (0..10).filter(|n| state(*n, "default_status").as_deref() == Some("enabled"));
    let deepest = usable.filter_map(|n| state(n, "name")).next_back();
    assert_eq!(value(all, "cpu.deep-idle"), deepest.as_deref(), "{of}");
    let policy = file(dir, "sys/module/pcie_aspm/parameters/policy");
    let chosen = policy.as_ref().and_then(|p| p.split(['[', ']']).nth(1));
    assert_eq!(value(all, "pcie.aspm"), chosen, "{of}");
}

fn disk_side(dir: &Path, all: &[Control], of: &str) {
    let columns = ["-J", "-b", "-d", "-o", "KNAME,TYPE,SIZE,SCHED", "--sysroot"];
    let output = Command::new("lsblk").args(columns).arg(dir).output().unwrap();
    let parsed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let devices = parsed["blockdevices"].as_array().unwrap();
    let disks: Vec<_> = devices.iter().filter(|d| d["type"] == "disk" && d["size"] != 0).collect();
    let wanted: BTreeSet<&str> = disks.iter().map(|d| d["kname"].as_str().unwrap()).collect();
    let found: BTreeSet<&str> = all.iter().filter_map(|c| c.id.strip_prefix("block.scheduler@")).collect();
    assert_eq!(found, wanted, "{of}: disks as lsblk sees them");
    for disk in disks {
        let name = disk["kname"].as_str().unwrap();
        let scheduler = format!("block.scheduler@{name}");
        assert_eq!(value(all, &scheduler), disk["sched"].as_str(), "{of}: {scheduler}");
        let ncq = format!("sata.ncq@{name}");
        if let Some(depth) =
            file(dir, &format!("sys/block/{name}/device/queue_depth")).filter(|_| value(all, &ncq).is_some())
        {
            assert_eq!(value(all, &ncq), Some(if depth == "1" { "off" } else { "on" }), "{of}: {ncq}");
        }
    }
    for control in all.iter().filter(|c| c.id.starts_with("sata.link-power@") || c.id.starts_with("nvme.apst@")) {
        let now = file(dir, control.source.trim_start_matches('/'));
        let spoken = now.map(|v| if v.parse::<u32>().is_ok() { format!("{v} us") } else { v });
        assert_eq!(control.value, spoken, "{of}: {}", control.id);
    }
}

#[test]
fn every_recorded_machine_is_listed_as_its_files_say() {
    let Some(machines) = common::machines() else { return };
    let folder = |name: &str| -> Vec<String> {
        let entries = std::fs::read_dir(machines.join(name)).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names.into_iter().map(|n| n.trim_end_matches(".tar.xz").to_owned()).collect()
    };
    let check = |dir: &Path, root: &Root, of: &str| {
        let all = list(root);
        sound(root, &all, of);
        cpu_side(dir, &all, of);
        disk_side(dir, &all, of);
    };
    let (cpus, blocks) = (folder("cpu"), folder("block"));
    assert!(cpus.len() > 10 && blocks.len() > 1, "{cpus:?} {blocks:?}");
    for cpu in cpus {
        let (dir, root) = common::machine(&machines, &["--cpu", &cpu]);
        for block in &blocks {
            // The disks are laid over the processor one after the other: laying that out takes longest.
            for old in ["sys/block", "sys/dev", "sys/devices/pci0000:00", "sys/devices/virtual", "proc/self"] {
                let _ = std::fs::remove_dir_all(dir.path().join(old));
            }
            common::lay_out(&machines, dir.path(), &["--block", block]);
            check(dir.path(), &root, &format!("{cpu} {block}"));
        }
    }
    for full in folder("full") {
        let (dir, root) = common::machine(&machines, &["--full", &full]);
        check(dir.path(), &root, &full);
    }
}

#[test]
fn nothing_at_all_is_listed_with_reasons() {
    let (_dir, root) = common::tree("");
    let all = list(&root);
    sound(&root, &all, "empty");
    assert!(all.iter().all(|c| c.value.is_none() && !c.knob().present()));
}

#[test]
fn this_machine_is_listed() {
    let root = Root::default();
    let all = list(&root);
    assert_eq!(all.iter().map(|c| c.id.split('@').next().unwrap()).collect::<BTreeSet<_>>(), BTreeSet::from(IDS));
    assert!(all.iter().all(|c| c.knob().writable || c.reason.is_some()));
}
