//! Recorded real machines, with `lsblk --sysroot` as the oracle of the block side. Skipped where there are none.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use power::{drive, host};
use protocol::host::{DriveFacts, HostFacts};
use protocol::units::BytesPerSecond;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Every device of the tree as lsblk sees it: kernel name, numbers and columns.
fn lsblk(dir: &Path) -> Vec<Value> {
    let columns = "KNAME,MAJ:MIN,TYPE,SIZE,ROTA,LOG-SEC,PHY-SEC,SCHED,RQ-SIZE,MODEL";
    let output = Command::new("lsblk").args(["-J", "-b", "-l", "-o", columns, "--sysroot"]).arg(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let parsed: Value = serde_json::from_slice(&output.stdout).unwrap();
    parsed["blockdevices"].as_array().unwrap().clone()
}

fn dev(device: &Value) -> (u32, u32) {
    let (major, minor) = device["maj:min"].as_str().unwrap().trim().split_once(':').unwrap();
    (major.parse().unwrap(), minor.parse().unwrap())
}

#[test]
fn disks_read_as_lsblk_reads_them() {
    let Some(machines) = common::machines() else { return };
    for args in [["--block", "simple-lvm"], ["--block", "simple-nvme"], ["--full", "vm-6.1"], ["--full", "vm-7"]] {
        let (dir, root) = common::machine(&machines, &args);
        let devices = lsblk(dir.path());
        assert!(devices.len() > 5, "{args:?}");
        for device in &devices {
            let facts = drive::facts(&root, dev(device)).unwrap_or_else(|| panic!("{args:?}: {device}"));
            match device["type"].as_str().unwrap() {
                "disk" => compare(&facts, device),
                "part" => assert_eq!(facts.layers[0].kind, "partition", "{device}"),
                "lvm" => assert_eq!(facts.layers[0].kind, "dm LVM", "{device}"),
                _ => {}
            }
        }
    }
}

fn compare(facts: &DriveFacts, device: &Value) {
    let number = |name: &str| device[name].as_u64();
    let text = |name: &str| device[name].as_str().map(str::trim);
    assert_eq!(Some(facts.name.as_str()), text("kname"));
    assert_eq!(facts.size.map(|b| b.0), number("size"), "{device}");
    assert_eq!(facts.rotational, device["rota"].as_bool(), "{device}");
    assert_eq!(facts.logical_block.map(|b| b.0), number("log-sec"), "{device}");
    assert_eq!(facts.physical_block.map(|b| b.0), number("phy-sec"), "{device}");
    assert_eq!(facts.nr_requests.map(u64::from), number("rq-size"), "{device}");
    assert_eq!(facts.scheduler.as_deref(), text("sched"), "{device}");
    if let Some(model) = text("model") {
        assert!(facts.model.as_deref().is_some_and(|m| m.contains(model)), "{facts:?} {device}");
    }
}

#[test]
fn a_logical_volume_over_several_drives_names_all_of_them() {
    let Some(machines) = common::machines() else { return };
    let (_dir, root) = common::machine(&machines, &["--block", "simple-lvm"]);
    let facts = drive::facts(&root, (253, 0)).unwrap();
    // The loop files lie in a tmpfs, so there is no drive below them.
    assert_eq!((facts.name.as_str(), facts.bus.as_deref()), ("loop0", Some("loop")));
    assert_eq!(facts.other_drives, ["loop1", "loop2", "loop3"]);
}

#[test]
fn a_virtual_machine_shows_links_and_temperatures() {
    let Some(machines) = common::machines() else { return };
    let (_dir, root) = common::machine(&machines, &["--full", "vm-7"]);
    let of = |dev| drive::facts(&root, dev).unwrap();
    let narrow = of((259, 0)).link.unwrap();
    assert_eq!((narrow.current.as_str(), narrow.ceiling), ("PCIe 1.0 x1", Some(BytesPerSecond(250e6))));
    let wide = of((259, 2)).link.unwrap();
    assert_eq!((wide.current.as_str(), wide.bottleneck), ("PCIe 4.0 x4", None));
    assert_eq!(of((259, 0)).temperature_c, Some(49.85));
    assert_eq!(of((8, 16)).link.unwrap().current, "SATA 6.0 Gb/s");
    assert_eq!(of((8, 0)).model.as_deref(), Some("EMUSSD"));
    assert_eq!(of((8, 0)).serial.as_deref(), Some("vmbed-ssd"));
    let buses = [(8, 0), (8, 48), (254, 0), (259, 1)].map(|d| of(d).bus.unwrap());
    assert_eq!(buses, ["sata", "usb", "virtio", "nvme"]);
}

/// Idle states and frequencies must be understandable on each: `intel_pstate`, hybrid cores, a small and an old one.
#[test]
fn recorded_processors_show_their_settings() {
    let Some(machines) = common::machines() else { return };
    let of = |facts: &HostFacts, id: &str| facts.settings.iter().find(|s| s.id == id).map(|s| s.value.clone());
    for name in ["adl0", "aml-y-2", "ptl-h-4", "dell-9360-kbl"] {
        let (_dir, root) = common::machine(&machines, &["--cpu", name]);
        let facts = host::facts(&root);
        assert!(facts.cpu_model.is_some() && facts.cpus > Some(0) && facts.kernel.is_some(), "{name}: {facts:?}");
        for id in ["cpu.governor", "cpu.frequency-driver", "cpu.turbo", "cpu.deep-idle"] {
            assert!(of(&facts, id).is_some(), "{name} lacks {id}: {:?}", facts.settings);
        }
    }
    let (_dir, root) = common::machine(&machines, &["--cpu", "adl0"]);
    insta::assert_debug_snapshot!("adl0", host::facts(&root).settings);
}
