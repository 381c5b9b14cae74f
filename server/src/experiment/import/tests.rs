//! Files as they are, as they are cut off, and as somebody may have changed them.

use super::*;
use crate::state_dir::StateDir;
use lab::design::{Host, plan};
use proptest::prelude::*;
use protocol::experiment::{Base, Design, Effect, ExperimentSpec, Metric};
use protocol::host::{DirectIo, HostFacts, TargetFacts, TargetKind};
use protocol::knob::Knob;
use serde_json::{Value, json};
use std::path::Path;

const ID: &str = "20261130-110000-000-abcd";

fn knob(id: &str) -> Knob {
    let [on, off] = ["on", "off"].map(String::from);
    Knob {
        id: id.into(),
        title: format!("the {id}"),
        value: Some(on.clone()),
        values: vec![on.clone(), off.clone()],
        saving_value: Some(on),
        performance_value: Some(off),
        writable: true,
        ..Knob::default()
    }
}

/// A finished experiment of two knobs, one of which costs 20 %.
fn measured() -> ExperimentFile {
    let json = json!({"design": "one-at-a-time", "target": "/mnt", "workloads": ["4k-qd1"], "seed": 7});
    let spec: ExperimentSpec = serde_json::from_value(json).unwrap();
    let spec = ExperimentSpec { from: Base::AllPerformance, ..spec };
    let knobs = vec![knob("cpu.epb"), knob("cpu.deep-idle")];
    let plan = plan(&spec, Host { knobs: &knobs, waits: &[] }).unwrap();
    let mut trials = Vec::new();
    for block in 0..20u32 {
        for (c, configuration) in plan.configurations.iter().enumerate() {
            let deep = configuration.set.iter().any(|a| a.id == "cpu.deep-idle" && a.value == "on");
            let number = u32::try_from(trials.len()).unwrap();
            let noise = 0.997 + 0.0007 * f64::from((number * 7 + block * 3) % 11);
            let rate = if deep { 8_000.0 } else { 10_000.0 } * noise;
            trials.push(Trial {
                number,
                block,
                configuration: u32::try_from(c).unwrap(),
                workload: "4k-qd1".into(),
                metrics: [(Metric::Iops, rate), (Metric::LatencyMean, 1e9 / rate)].into(),
                latency: vec![(50.0, protocol::units::Nanos(90_000)), (99.0, protocol::units::Nanos(120_001))],
                started_at: "2026-11-30T11:00:01Z".into(),
                void: None,
            });
        }
    }
    let experiment = ExperimentRecord {
        id: ID.into(),
        format: 1,
        version: "0.1.0".into(),
        started_at: "2026-11-30T11:00:00Z".into(),
        configurations: plan.configurations.clone(),
        spec,
        knobs,
        waits: vec![],
        impossible: vec![],
        sweep: vec![],
        host: HostFacts { hostname: Some("bench7".into()), ..HostFacts::default() },
        target: TargetFacts {
            path: "/mnt".into(),
            kind: TargetKind::Directory,
            filesystem: None,
            mount_point: None,
            mount_options: None,
            device: None,
            dev: None,
            size: None,
            free: None,
            total: None,
            direct: DirectIo::default(),
        },
        drive: None,
        imported: false,
    };
    let report = conclude(&experiment, trials).unwrap();
    let finished_at = Some("2026-11-30T12:00:00Z".into());
    ExperimentFile { experiment, state: RunState::Done, finished_at, error: None, report }
}

fn text(file: &ExperimentFile) -> String {
    serde_json::to_string_pretty(file).unwrap()
}

fn runner() -> (tempfile::TempDir, Runner) {
    let tmp = tempfile::tempdir().unwrap();
    let state = StateDir::open(tmp.path().join("state")).unwrap();
    let runner = Runner::new(state, Path::new("/")).unwrap();
    (tmp, runner)
}

/// The file with one value, named by its JSON pointer, replaced.
fn with(pointer: &str, value: Value) -> String {
    let mut json = serde_json::to_value(measured()).unwrap();
    *json.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
    json.to_string()
}

#[test]
fn what_is_exported_comes_back_with_the_same_effects_to_the_digit() {
    let (_tmp, runner) = runner();
    let file = measured();
    assert!(file.report.headline.contains("the cpu.deep-idle"), "{}", file.report.headline);
    let imported = import(&runner, text(&file).as_bytes()).unwrap();
    assert_eq!(imported, Imported { id: ID.into(), known: false, notes: vec![] });
    let here = crate::experiment::export(&runner, ID).unwrap();
    assert_eq!(here.report, file.report);
    let experiment = ExperimentRecord { imported: true, ..file.experiment.clone() };
    assert_eq!(here, ExperimentFile { experiment, ..file.clone() });
    // And once more, from what is exported here.
    let again = import(&runner, text(&here).as_bytes()).unwrap();
    assert_eq!(again, Imported { id: ID.into(), known: true, notes: vec![] });
    assert_eq!(runner.store().experiments().unwrap(), [ID]);
    let refused = crate::experiment::Ready::again(&runner, &|| panic!("nothing is taken in hand"), ID).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Usage);
}

#[test]
fn another_experiment_of_the_same_id_gets_one_of_its_own() {
    let (_tmp, runner) = runner();
    import(&runner, text(&measured()).as_bytes()).unwrap();
    let other = with("/experiment/host/hostname", "bench8".into());
    let imported = import(&runner, other.as_bytes()).unwrap();
    assert!(!imported.known && imported.id != ID, "{imported:?}");
    assert!(imported.notes[0].contains(ID) && imported.notes[0].contains(&imported.id), "{:?}", imported.notes);
    let again = import(&runner, other.as_bytes()).unwrap();
    assert!(again.known && again.id == imported.id, "{again:?}");
    let note = format!("The file calls it {ID}; its settings and trials are those of {}.", imported.id);
    assert_eq!(again.notes, [note]);
    assert_eq!(runner.store().experiments().unwrap().len(), 2);
}

#[test]
fn conclusions_are_not_taken_from_the_file() {
    let mut lie = measured();
    lie.report.headline = "Nothing to see.".into();
    for e in &mut lie.report.effects {
        *e = Effect { verdict: protocol::experiment::Finding::Free, estimate_percent: Some(0.0), ..e.clone() };
    }
    let (file, notes) = open(text(&lie).as_bytes()).unwrap();
    assert_eq!(file.report, measured().report);
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(note.contains("free at +0.0 % in the file") && note.contains("by its trials"), "{note}");
}

#[test]
fn an_experiment_that_was_on_is_interrupted_here() {
    let (file, _) = open(with("/state", "running".into()).as_bytes()).unwrap();
    assert_eq!((file.state, file.error.unwrap().code), (RunState::Interrupted, ErrorCode::Interrupted));
}

#[test]
fn what_is_wrong_is_named() {
    let trial = || serde_json::to_value(&measured().report.trials[3]).unwrap();
    let many = |n: usize, value: Value| Value::Array(vec![value; n]);
    let mut knobs = serde_json::to_value(&measured().experiment.knobs).unwrap();
    for n in 0..3000 {
        knobs.as_array_mut().unwrap().push(serde_json::to_value(knob(&format!("block.wbt@sd{n}"))).unwrap());
    }
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/format", 2.into(), "of version 2; this program reads up to version 1"),
        ("/experiment/format", 9.into(), "of version 9"),
        ("/experiment/id", "../../x".into(), "experiment.id"),
        ("/experiment/id", 7.into(), "experiment.id: invalid type"),
        ("/experiment/started_at", "yesterday".into(), "experiment.started_at is no time"),
        ("/finished_at", "never".into(), "finished_at is no time"),
        ("/state", "finished".into(), "state: unknown variant `finished`"),
        ("/experiment/spec/threshold_percent", 0.into(), "threshold_percent is 0"),
        ("/experiment/spec/design", "ab".into(), "planned otherwise"),
        ("/experiment/configurations/1/set/0/value", "fast".into(), "planned otherwise"),
        ("/experiment/knobs/0/writable", false.into(), "not sound"),
        ("/experiment/knobs/1/id", "cpu.epb".into(), "`cpu.epb` stands there twice"),
        ("/experiment/knobs", knobs, "3002 knobs with 6004 values are more than"),
        ("/experiment/knobs/0/title", "a\u{1b}[2Jb".into(), "experiment.knobs[0].title: a text with the control"),
        ("/experiment/host/hostname", "x".repeat(20_000).into(), "experiment.host.hostname: a text of 20000 bytes"),
        ("/trials", 3.into(), "trials: invalid type"),
        ("/trials/3", many(3, 1.into()), "trials[3]"),
        ("/trials/3/number", 7.into(), "trials[3].number is 7"),
        ("/trials/3/block", 60.into(), "trials[3].block is 60; it must be below 60"),
        ("/trials/3/block", (-1).into(), "trials[3].block: invalid value"),
        ("/trials/3/block", 1.5.into(), "trials[3].block: invalid type"),
        ("/trials/3/configuration", 3.into(), "trials[3].configuration is 3; it must be below 3"),
        ("/trials/3/configuration", 4_000_000_000u32.into(), "trials[3].configuration"),
        ("/trials/3/block", 0.into(), "trials[3] is of the same place as trials[0]"),
        ("/trials/3/workload", "4k-qd2".into(), "trials[3].workload is `4k-qd2`"),
        ("/trials/3/workload", "idle".into(), "is not what the workload `idle` yields"),
        ("/trials/3/metrics/iops", (-1.0).into(), "trials[3].metrics.iops is -1"),
        ("/trials/3/metrics/iops", 0.into(), "trials[3].metrics.iops is 0"),
        ("/trials/3/metrics/iops", Value::Null, "trials[3].metrics: invalid type: null"),
        ("/trials/3/metrics", json!({"iopps": 1}), "trials[3].metrics"),
        ("/trials/3/latency", json!([[50, 9], [50, 9]]), "percentiles"),
        ("/trials/3/latency", json!([[50, 9], [99, 8]]), "percentiles"),
        ("/trials/3/latency", json!([[-1, 9]]), "percentiles"),
        ("/trials/3/latency", many(65, json!([1, 1])), "latency has 65 entries"),
        ("/trials/3/started_at", "".into(), "trials[3].started_at is no time"),
        ("/trials", many(100_001, trial()), "trials has 100001 entries"),
    ];
    for (pointer, value, words) in cases {
        let error = open(with(pointer, value).as_bytes()).unwrap_err();
        assert!(error.message.contains(words), "{pointer}: {error}");
    }
    let twice = text(&measured()).replacen("\"state\":", "\"state\": \"done\", \"state\":", 1);
    assert!(open(twice.as_bytes()).unwrap_err().message.contains("`state` stands there twice"));
    for number in ["NaN", "Infinity", "1e999"] {
        let broken =
            text(&measured()).replacen("\"threshold_percent\": 1.0", &format!("\"threshold_percent\": {number}"), 1);
        let error = open(broken.as_bytes()).unwrap_err();
        assert!(error.message.contains("not JSON") && error.message.contains("line"), "{error}");
    }
}

#[test]
fn a_file_that_is_cut_off_anywhere_says_so() {
    let whole = text(&measured());
    for end in (1..whole.trim_end().len()).step_by(997) {
        let error = open(&whole.as_bytes()[..end]).unwrap_err();
        assert!(error.message.contains("truncated") && error.message.contains("line"), "{end}: {error}");
    }
}

/// Every place in a document, as JSON pointers.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| places(v, &format!("{at}/{k}"), out)),
        Value::Array(list) => list.iter().enumerate().for_each(|(n, v)| places(v, &format!("{at}/{n}"), out)),
        _ => {}
    }
}

fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u8>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z.@0-9-]{0,12}".prop_map(Value::from),
        prop_oneof![Just("on"), Just("off"), Just("cpu.epb"), Just("idle"), Just("check"), Just("ncq"), Just("poll")]
            .prop_map(Value::from),
        prop::collection::vec(any::<u8>(), 0..3).prop_map(|v| json!(v)),
        Just(json!({})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever is changed, the file is refused in words, or what comes of it follows from its own trials.
    #[test]
    fn a_changed_file_is_refused_or_still_agrees_with_itself(
        changes in prop::collection::vec((any::<prop::sample::Index>(), anything()), 1..4),
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..2),
    ) {
        let mut json = serde_json::to_value(measured()).unwrap();
        for (index, value) in changes {
            let mut all = Vec::new();
            places(&json, "", &mut all);
            // Trials would be nearly all of it.
            all.retain(|p| !p.starts_with("/trials/") || p.starts_with("/trials/3"));
            *json.pointer_mut(index.get::<String>(&all)).unwrap() = value;
        }
        let mut text = json.to_string().into_bytes();
        for (index, byte) in bytes {
            let at = index.index(text.len());
            text[at] = byte;
        }
        match open(&text) {
            Err(error) => prop_assert!(!error.message.is_empty() && error.code == ErrorCode::Usage, "{error}"),
            Ok((file, _)) => {
                prop_assert!(file.experiment.imported && file.state.ended());
                let same = conclude(&file.experiment, file.report.trials.clone()).unwrap();
                prop_assert_eq!(&same, &file.report);
                let (_tmp, runner) = runner();
                let imported = import(&runner, &text).unwrap();
                prop_assert_eq!(crate::experiment::export(&runner, &imported.id).unwrap().report, same);
            }
        }
    }
}

#[test]
fn designs_of_elsewhere_are_planned_within_bounds() {
    let mut knobs = Vec::new();
    for n in 0..400 {
        let values: Vec<String> = (0..100).map(|v| format!("{v}")).collect();
        knobs.push(Knob { values, ..knob(&format!("platform.profile@{n}")) });
    }
    for design in Design::ALL {
        let mut file = measured();
        file.experiment.spec.design = design;
        file.experiment.knobs.clone_from(&knobs);
        let error = open(text(&file).as_bytes()).unwrap_err();
        assert!(error.message.contains("not sound"), "{design}: {error}");
    }
}
