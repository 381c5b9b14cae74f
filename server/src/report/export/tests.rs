//! What is exported can be read by what it is for, and holds nothing of a hostile file.

use super::{Format, export, sets_nothing};
use crate::report::fixture::{experiment, one_at_a_time};
use protocol::experiment::{ExperimentFile, Use};
use std::path::Path;
use std::process::Command;

const APPLIED: [Format; 6] =
    [Format::Tuned, Format::Tlp, Format::Systemd, Format::Tmpfiles, Format::Cmdline, Format::Script];

fn all(file: &ExperimentFile) -> impl Iterator<Item = (Format, Use, String)> {
    let each = APPLIED.into_iter().flat_map(|f| Use::ALL.into_iter().map(move |u| (f, u)));
    each.map(|(f, u)| (f, u, export(file, f, u).unwrap()))
}

/// Lines that are not comments.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|l| !l.trim_start().starts_with('#') && !l.trim().is_empty()).collect()
}

#[test]
fn each_form_for_latency() {
    let file = one_at_a_time();
    for format in APPLIED {
        insta::assert_snapshot!(format.name(), export(&file, format, Use::Latency).unwrap());
    }
}

#[test]
fn every_setting_is_there_or_is_said_not_to_be() {
    let file = one_at_a_time();
    for (format, purpose, text) in all(&file) {
        for r in file.report.recommendation.iter().filter(|r| r.purpose == purpose) {
            let title = &file.experiment.knobs.iter().find(|k| k.id == r.knob).unwrap().title;
            assert!(text.contains(title), "{format}: {title} is missing: {text}");
        }
        assert!(text.contains("experiment 20261130-200000-abcd"), "{format}");
    }
}

#[test]
fn a_rung_stands_for_all_that_it_changes() {
    let text = "design = 'ladder'\ntarget = '/mnt/ssd'\nworkloads = ['4k-qd1']\n\
        [[rung]]\nname = 'saving'\nset = { 'cpu.deep-idle' = 'C6', 'cpu.turbo' = 'off' }\n\
        [[rung]]\nname = 'fast'\nset = { 'cpu.deep-idle' = 'C1', 'cpu.turbo' = 'on' }";
    let file = experiment(text, 24);
    let script = export(&file, Format::Script, Use::Latency).unwrap();
    let all = lines(&script);
    let applied = all.iter().take_while(|l| **l != "commands_before() {").copied().collect::<Vec<_>>().join("\n");
    assert!(applied.contains("w /sys/devices/system/cpu/intel_pstate/no_turbo 0"), "{script}");
    assert!(applied.contains("!= \"C1\" ]"), "{script}");
}

/// Runs a checker on a file; `None` where there is no such program.
fn check(program: &str, args: &[&str], dir: &Path, name: &str, text: &str) -> Option<String> {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    match Command::new(program).args(args).arg(&path).output() {
        Err(_) => {
            eprintln!("skipped: no {program}");
            None
        }
        Ok(out) => {
            let said = String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
            assert!(out.status.success(), "{program} {name}: {said}\n{text}");
            Some(said)
        }
    }
}

#[test]
fn shells_and_systemd_can_read_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = one_at_a_time();
    for purpose in Use::ALL {
        let text = |format| export(&file, format, purpose).unwrap();
        check("sh", &["-n"], dir.path(), "settings.sh", &text(Format::Script));
        check("shellcheck", &["--shell=sh", "--exclude=SC3040"], dir.path(), "settings.sh", &text(Format::Script));
        check("sh", &["-n"], dir.path(), "tlp.conf", &text(Format::Tlp));
        if sets_nothing(Format::Systemd, &text(Format::Systemd)) {
            continue;
        }
        let said =
            check("systemd-analyze", &["verify"], dir.path(), "brakecheck-settings.service", &text(Format::Systemd));
        assert!(said.is_none_or(|said| !said.contains("brakecheck-settings.service:")));
    }
}

/// Two CPUs whose files differ, in a directory that stands for the machine's.
struct Cpus(tempfile::TempDir);

impl Cpus {
    fn new() -> Self {
        let cpus = Self(tempfile::tempdir().unwrap());
        for (cpu, disabled) in ["0 0 0 0", "0 1 0 0"].into_iter().enumerate() {
            for (n, (name, off)) in ["POLL", "C1", "C1E", "C6"].into_iter().zip(disabled.split(' ')).enumerate() {
                cpus.put(&format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state{n}/name"), name);
                cpus.put(&format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state{n}/disable"), off);
                cpus.put(&format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state{n}/latency"), &(n * 10).to_string());
            }
        }
        cpus.put(Self::POLICY, "default performance [powersave] powersupersave");
        std::fs::create_dir_all(cpus.0.path().join("run/brakecheck-settings")).unwrap();
        cpus
    }

    const POLICY: &str = "sys/module/pcie_aspm/parameters/policy";

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap().trim().to_owned()
    }

    /// The states of both CPUs, and the policy.
    fn all(&self) -> String {
        let state = |cpu: u32, n: u32| self.read(&format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state{n}/disable"));
        let states = [0, 1].map(|cpu| (0..4).map(|n| state(cpu, n)).collect::<Vec<_>>().join(" "));
        format!("{}, {}; {}", states[0], states[1], self.read(Self::POLICY))
    }

    /// Runs a command of a shell that is meant for the machine.
    fn run(&self, script: &str, args: &[&str]) -> String {
        let here = self.0.path().display();
        let script = script.replace("/sys/", &format!("{here}/sys/")).replace("/run/", &format!("{here}/run/"));
        let out = Command::new("sh").args(["-c", &script, "settings.sh"]).args(args).output().unwrap();
        assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
        String::from_utf8(out.stdout).unwrap()
    }
}

/// C-states and the policy are to be changed, from values that no single one stands for.
fn mixed() -> ExperimentFile {
    let mut file = one_at_a_time();
    for (id, found) in [("cpu.deep-idle", "C6 x 1, C1E x 1"), ("pcie.aspm", "powersave")] {
        file.experiment.knobs.iter_mut().find(|k| k.id == id).unwrap().original = Some(found.into());
    }
    file
}

const FOUND: &str = "0 0 0 0, 0 1 0 0; default performance [powersave] powersupersave";
const PUT_BACK: &str = "0 0 0 0, 0 1 0 0; powersave";
const APPLIED_TO: &str = "0 0 1 1, 0 0 1 1; powersupersave";

#[test]
fn the_script_sets_and_puts_back_what_each_file_held() {
    let cpus = Cpus::new();
    let script = export(&mixed(), Format::Script, Use::Latency).unwrap();
    assert!(cpus.run(&script, &["--undo"]).contains("nothing to undo"));
    assert_eq!(cpus.all(), FOUND);
    let said = cpus.run(&script, &[]);
    assert_eq!(cpus.all(), APPLIED_TO, "{said}");
    assert!(said.contains("cpu0/cpuidle/state3/disable: 0 -> 1"), "{said}");
    assert!(said.contains("link_power_management_policy does not exist"), "{said}");
    // Applied once more, it still knows what was there before.
    cpus.run(&script, &[]);
    cpus.run(&script, &["--undo"]);
    assert_eq!(cpus.all(), PUT_BACK);
}

/// As the keeper does it: what the driver keeps off is left alone, and a small core without the state goes as deep as
/// what wakes as fast.
#[test]
fn idle_states_are_set_as_they_were_for_the_experiment() {
    let cpus = Cpus::new();
    for (path, text) in [("cpu0/cpuidle/state2/default_status", "disabled"), ("cpu0/cpuidle/state2/disable", "1")] {
        cpus.put(&format!("sys/devices/system/cpu/{path}"), text);
    }
    for (file, text) in [("name", "C8"), ("latency", "80"), ("disable", "0")] {
        cpus.put(&format!("sys/devices/system/cpu/cpu1/cpuidle/state3/{file}"), text);
    }
    let to = |value: &str| {
        let mut file = mixed();
        for r in file.report.recommendation.iter_mut().filter(|r| r.knob == "cpu.deep-idle") {
            r.value = Some(value.into());
        }
        export(&file, Format::Script, Use::Latency).unwrap()
    };
    let states = || cpus.all().split(';').next().unwrap().to_owned();
    let found = states();
    assert_eq!(found, "0 0 1 0, 0 1 0 0");
    for (value, wanted) in [("C6", "0 0 1 0, 0 0 0 1"), ("C1", "0 0 1 1, 0 0 1 1"), ("C9", found.as_str())] {
        let script = to(value);
        cpus.run(&script, &[]);
        assert_eq!(states(), wanted, "{value}");
        cpus.run(&script, &["--undo"]);
        assert_eq!(states(), found, "{value}");
    }
}

#[test]
fn the_unit_sets_and_puts_back_what_each_file_held() {
    let cpus = Cpus::new();
    let unit = export(&mixed(), Format::Systemd, Use::Latency).unwrap();
    let run = |keys: &[&str]| {
        for key in keys {
            for line in unit.lines().filter_map(|l| l.strip_prefix(key)?.strip_prefix("=-/bin/sh -c '")) {
                cpus.run(&line.strip_suffix('\'').unwrap().replace("$$", "$").replace("%%", "%"), &[]);
            }
        }
    };
    run(&["ExecStartPre", "ExecStart"]);
    assert_eq!(cpus.all(), APPLIED_TO, "{unit}");
    run(&["ExecStop"]);
    assert_eq!(cpus.all(), PUT_BACK, "{unit}");
}

#[test]
fn what_is_undecided_or_there_already_is_not_set() {
    let undecided = experiment("design = 'one-at-a-time'\ntarget = '/mnt/ssd'\nworkloads = ['4k-qd1']", 3);
    let mut there = one_at_a_time();
    for r in &there.report.recommendation {
        if let (Some(value), Use::Latency) = (&r.value, r.purpose) {
            there.experiment.knobs.iter_mut().find(|k| k.id == r.knob).unwrap().original = Some(value.clone());
        }
    }
    // TLP has values for battery too, and those differ.
    let already = all(&there).filter(|(f, u, _)| *u == Use::Latency && *f != Format::Tlp);
    for (format, purpose, text) in all(&undecided).chain(already) {
        assert!(sets_nothing(format, &text), "{format} {purpose:?}: {text}");
        assert!(text.contains("No change is recommended"), "{format}: {text}");
    }
    let script = export(&one_at_a_time(), Format::Script, Use::Latency).unwrap();
    assert!(!sets_nothing(Format::Script, &script));
    assert!(!lines(&script).iter().any(|l| l.contains("no_turbo")), "off already: {script}");
}

#[test]
fn tlp_is_not_told_what_was_not_measured() {
    let mut file = one_at_a_time();
    file.experiment.knobs.iter_mut().find(|k| k.id == "cpu.epb").unwrap().original = Some("normal".into());
    for r in file.report.recommendation.iter_mut().filter(|r| r.knob == "cpu.epb") {
        r.value = Some("power".into());
    }
    let tlp = export(&file, Format::Tlp, Use::Latency).unwrap();
    assert!(!lines(&tlp).iter().any(|l| l.contains("ENERGY_PERF_POLICY")), "{tlp}");
    assert!(tlp.contains("sets another setting, EPP"), "{tlp}");
}

#[test]
fn nothing_of_a_hostile_file_gets_into_a_line_that_is_read() {
    let hostile = ["\n$(touch /tmp/x)\n[main]\nx=y\n'", "'; reboot; '", "%h`id`\\", "\u{2028}w /etc/passwd - - - - x"];
    for text in hostile {
        let mut file = one_at_a_time();
        let clean: Vec<_> = all(&file).map(|(f, u, text)| (f, u, lines(&text).join("\n"))).collect();
        file.report.headline = text.into();
        (file.experiment.id, file.experiment.version) = (text.into(), text.into());
        file.experiment.started_at = text.into();
        file.experiment.host.hostname = Some(text.into());
        let drive = file.experiment.drive.as_mut().unwrap();
        (drive.name, drive.model, drive.serial) = (text.into(), Some(text.into()), Some(text.into()));
        for e in &mut file.report.effects {
            (e.workload, e.from, e.to, e.sentence) = (text.into(), text.into(), text.into(), text.into());
        }
        file.report.recommendation.iter_mut().for_each(|r| r.sentence = text.into());
        file.experiment.knobs.iter_mut().for_each(|k| k.title = text.into());
        for ((format, purpose, said), (.., before)) in all(&file).zip(&clean) {
            assert_eq!(lines(&said).join("\n"), *before, "{format} {purpose:?}");
            assert!(!said.contains('\u{2028}'), "{format}");
        }
        // Where values and names themselves are hostile, there is nothing to set.
        for knob in &mut file.experiment.knobs {
            (knob.value, knob.source) = (Some(text.into()), text.into());
        }
        for r in &mut file.report.recommendation {
            r.value = Some(text.into());
        }
        for (format, _, said) in all(&file) {
            for line in lines(&said) {
                assert!(!["touch", "reboot", "passwd", "`"].iter().any(|bad| line.contains(bad)), "{format}: {line}");
            }
        }
    }
    assert_eq!(Format::Html.file_name("../\"x\r\n"), "brakecheck-x.html");
}
