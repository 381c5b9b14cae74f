//! What the two profiles write, in the order in which it is written.

mod common;

use power::Root;
use power::control::{Control, Hints, Write, controls};
use protocol::knob::Knob;
use protocol::power::Profile;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Equal writes to many CPUs or policies are told once, with their number.
fn told(write: &Write) -> String {
    let site = serde_json::to_value(&write.site).unwrap_or_default();
    // By name: what order a map has depends on which features of `serde_json` other crates turn on.
    let fields: BTreeMap<_, _> = site.as_object().into_iter().flatten().collect();
    let fields = fields.into_iter();
    let mut words = vec![site["site"].as_str().unwrap_or_default().to_owned()];
    words.extend(fields.filter(|(key, _)| !["site", "cpu", "policy"].contains(&key.as_str())).map(|(key, value)| {
        match value.as_str() {
            Some(text) => text.to_owned(),
            None => format!("{key}{value}"),
        }
    }));
    format!("{} = {}", words.join(" "), write.value)
}

fn writes(all: &[Control], profile: Profile) -> String {
    let knobs: Vec<Knob> = all.iter().map(Control::knob).collect();
    let wanted = profile.assignments(&knobs);
    let choice = |id: &str, value: &str| all.iter().find(|c| c.id == id)?.choice(value);
    let mut writes: Vec<&Write> =
        wanted.iter().filter_map(|w| choice(&w.id, &w.value)).flat_map(|c| &c.writes).collect();
    writes.sort_by_key(|w| w.site.rank());
    let mut lines: Vec<((u8, String), usize)> = Vec::new();
    for write in writes {
        let line = (write.site.rank(), told(write));
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, n)) => *n += 1,
            None => lines.push((line, 1)),
        }
    }
    let mut text = String::new();
    for ((rank, line), n) in lines {
        let _ = if n == 1 { writeln!(text, "{rank} {line}") } else { writeln!(text, "{rank} {line} x {n}") };
    }
    text
}

fn both(root: &Root) -> String {
    let all = controls(root, &Hints::default());
    let mut text = String::new();
    for profile in [Profile::Saving, Profile::Performance] {
        let _ = writeln!(text, "{profile:?}\n{}", writes(&all, profile));
    }
    text
}

#[test]
fn a_laptop() {
    let (_dir, root) = common::tree(include_str!("trees/laptop.txt"));
    insta::assert_snapshot!("laptop", both(&root));
}

#[test]
fn a_server() {
    let (_dir, root) = common::tree(include_str!("trees/server.txt"));
    insta::assert_snapshot!("server", both(&root));
}

#[test]
fn recorded_machines() {
    let Some(machines) = common::machines() else { return };
    for (name, args) in [
        ("adl0", ["--cpu", "adl0", "--block", "simple-nvme"].as_slice()),
        ("bdwex0", &["--cpu", "bdwex0-nocpuidle", "--block", "simple-lvm"]),
        ("genoa0", &["--cpu", "genoa0"]),
        ("vm-7", &["--full", "vm-7"]),
        ("vm-6.12-amd", &["--full", "vm-6.12-amd"]),
    ] {
        let (_dir, root) = common::machine(&machines, args);
        insta::assert_snapshot!(name, both(&root));
    }
}
