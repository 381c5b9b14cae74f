//! What is exported can be read by what it is for, and holds nothing of a hostile file.

use super::{Format, export};
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
    let applied = all.iter().take_while(|l| **l != "undo() {").copied().collect::<Vec<_>>().join("\n");
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
        let said =
            check("systemd-analyze", &["verify"], dir.path(), "brakecheck-settings.service", &text(Format::Systemd));
        assert!(said.is_none_or(|said| !said.contains("brakecheck-settings.service:")));
    }
}

/// A script that is run finds what is there, writes it, and puts it back.
#[test]
fn the_script_sets_and_undoes() {
    let dir = tempfile::tempdir().unwrap();
    let cpu = dir.path().join("sys/devices/system/cpu");
    let put = |path: &str, text: &str| {
        let path = cpu.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for (n, name) in ["POLL", "C1", "C1E", "C6"].into_iter().enumerate() {
        put(&format!("cpu0/cpuidle/state{n}/name"), name);
        put(&format!("cpu0/cpuidle/state{n}/disable"), "0");
    }
    put("cpufreq/policy0/scaling_governor", "powersave");
    let script = export(&one_at_a_time(), Format::Script, Use::Latency).unwrap();
    // The same script, of a tree that is not the machine's.
    let script = script.replace("/sys/", &format!("{}/sys/", dir.path().display()));
    let path = dir.path().join("settings.sh");
    std::fs::write(&path, script).unwrap();
    let run = |args: &[&str]| {
        let out = Command::new("sh").arg(&path).args(args).output().unwrap();
        assert!(out.stderr.is_empty(), "{out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    let states = || {
        let state = |n: u32| std::fs::read_to_string(cpu.join(format!("cpu0/cpuidle/state{n}/disable"))).unwrap();
        (0..4).map(|n| state(n).trim().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let said = run(&[]);
    assert_eq!(states(), "0 0 1 1", "{said}");
    assert!(said.contains("state3/disable: 0 -> 1") && said.contains("no_turbo does not exist"), "{said}");
    run(&["--undo"]);
    assert_eq!(states(), "0 0 0 0");
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
