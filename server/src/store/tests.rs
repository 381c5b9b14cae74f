use super::*;
use crate::state_dir::StateDir;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::host::{DirectIo, EngineFacts, HostFacts, TargetFacts, TargetKind};
use protocol::plan::RunSpec;
use protocol::run::{RunRecord, RunState};
use protocol::sample::Sample;
use protocol::workload::{Rw, Workload};
use std::os::unix::fs::PermissionsExt;

fn state() -> (tempfile::TempDir, StateDir) {
    let tmp = tempfile::tempdir().unwrap();
    let state = StateDir::open(tmp.path().join("state")).unwrap();
    (tmp, state)
}

fn record(id: &str, state: RunState) -> RunRecord {
    RunRecord {
        id: id.into(),
        version: protocol::VERSION.into(),
        started_at: "2026-01-02T03:04:05Z".into(),
        finished_at: None,
        state,
        spec: RunSpec::of_workloads("/mnt", &[Workload::new(Rw::RandRead)], 2),
        host: HostFacts::default(),
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
        engine: EngineFacts::default(),
        results: Vec::new(),
        error: None,
    }
}

fn sample(step: u32, t_ms: f64) -> Sample {
    Sample { step, t_ms, dt_ms: 50.0, ..Sample::default() }
}

#[test]
fn a_run_reads_back_as_it_was_written() {
    let (_tmp, state) = state();
    let store = open(&state).unwrap().store;
    let mut run = record("r1", RunState::Running);
    store.begin(&run).unwrap();
    store.append_samples("r1", 0, &[sample(0, 50.0), sample(0, 100.0)]).unwrap();
    store.append_samples("r1", 2, &[sample(1, 50.0)]).unwrap();
    run.state = RunState::Failed;
    run.finished_at = Some("2026-01-02T03:05:05Z".into());
    run.error = Some(ErrorBody::new(ErrorCode::RunFailed, "the drive is gone"));
    store.finish(&run).unwrap();
    drop(store);

    let store = open(&state).unwrap().store;
    assert_eq!(store.get("r1").unwrap(), run);
    assert_eq!(store.list().unwrap(), [run.summary()]);
    assert_eq!(store.samples("r1", None).unwrap().len(), 3);
    assert_eq!(store.samples("r1", Some(1)).unwrap(), [sample(1, 50.0)]);
    store.delete("r1").unwrap();
    assert!(store.samples("r1", None).unwrap().is_empty());
    assert!(matches!(store.get("r1"), Err(StoreError::NotFound(_))));
    assert!(matches!(store.delete("r1"), Err(StoreError::NotFound(_))));
}

#[test]
fn the_newest_run_is_listed_first() {
    let (_tmp, state) = state();
    let store = open(&state).unwrap().store;
    for id in ["a", "c", "b"] {
        store.begin(&record(id, RunState::Done)).unwrap();
    }
    let ids: Vec<_> = store.list().unwrap().into_iter().map(|s| s.id).collect();
    assert_eq!(ids, ["c", "b", "a"]);
}

#[test]
fn only_runs_of_dead_processes_become_interrupted() {
    let cases = [
        (Living::default(), vec!["queued", "running"]),
        (Living { running: Some("running".into()), server: false }, vec!["queued"]),
        (Living { running: Some("other".into()), server: true }, vec!["running"]),
        (Living { running: Some(String::new()), server: false }, vec![]),
    ];
    for (living, expected) in cases {
        let (_tmp, state) = state();
        let store = open(&state).unwrap().store;
        for state in [RunState::Running, RunState::Queued, RunState::Done] {
            store.begin(&record(state.name(), state)).unwrap();
        }
        let mut dead = store.mark_interrupted(&living).unwrap();
        dead.sort();
        assert_eq!(dead, expected, "{living:?}");
        for id in dead {
            assert_eq!(store.get(&id).unwrap().state, RunState::Interrupted);
        }
        assert_eq!(store.get("done").unwrap().state, RunState::Done);
    }
}

#[test]
fn nobody_else_may_read_the_files() {
    let (_tmp, state) = state();
    let store = open(&state).unwrap().store;
    store.begin(&record("r1", RunState::Done)).unwrap();
    for entry in std::fs::read_dir(state.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.file_name());
    }
}

#[test]
fn a_damaged_database_is_put_aside_whole() {
    let (_tmp, state) = state();
    let store = open(&state).unwrap().store;
    for n in 0..50 {
        store.begin(&record(&format!("r{n}"), RunState::Done)).unwrap();
    }
    store.checkpoint().unwrap();
    drop(store);
    let whole = std::fs::read(state.database()).unwrap();
    let mut holed = whole.clone();
    let middle = holed.len() / 2;
    holed[middle..].iter_mut().for_each(|b| *b = !*b);
    for damaged in [b"not a database, but long enough to be looked at by SQLite as if it were one".to_vec(), holed] {
        std::fs::write(state.database(), &damaged).unwrap();
        let opened = open(&state).unwrap();
        assert!(opened.store.list().unwrap().is_empty());
        let aside = opened.put_aside.unwrap();
        assert!(aside.to_string_lossy().contains("results.db.corrupt-"), "{}", aside.display());
        assert_eq!(std::fs::read(&aside).unwrap(), damaged);
    }
    assert!(open(&state).unwrap().put_aside.is_none());
}

#[test]
fn a_newer_database_is_left_alone() {
    let (_tmp, state) = state();
    let store = open(&state).unwrap().store;
    store.connection().pragma_update(None, "user_version", 1000).unwrap();
    drop(store);
    let error = open(&state).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 1000, .. }), "{error}");
    let body = ErrorBody::from(error);
    assert!(body.message.contains("newer version"), "{body}");
}

/// A database as the first released version wrote it: what it holds must stay readable.
#[test]
fn a_database_of_the_first_version_is_read() {
    let (_tmp, state) = state();
    let db = rusqlite::Connection::open(state.database()).unwrap();
    db.execute_batch(include_str!("testdata/version1.sql")).unwrap();
    drop(db);
    let store = open(&state).unwrap().store;
    let run = store.get("20261130-110000-000-abcd").unwrap();
    assert_eq!((run.state, run.results.len(), run.spec.steps.len()), (RunState::Done, 1, 1));
    assert!((run.results[0].iops().0 - 1000.0).abs() < 1e-9);
    assert_eq!(store.list().unwrap()[0].headline.as_ref().unwrap().label, "randread 4k QD1");
    assert_eq!(store.samples(&run.id, None).unwrap().len(), 1);
}

fn experiment(id: &str, format: u32) -> protocol::experiment::ExperimentRecord {
    use protocol::experiment::{Design, ExperimentSpec};
    let RunRecord { host, target, version, started_at, .. } = record(id, RunState::Running);
    protocol::experiment::ExperimentRecord {
        id: id.into(),
        format,
        version,
        started_at,
        spec: ExperimentSpec::new(Design::WaitMode, "/mnt"),
        knobs: vec![],
        waits: vec![],
        impossible: vec![(1, "the kernel refuses it".into())],
        configurations: vec![],
        host,
        target,
        sweep: vec![],
        imported: false,
        drive: None,
    }
}

#[test]
fn an_experiment_reads_back_with_its_trials_and_one_that_died_is_marked() {
    use protocol::experiment::{Metric, Trial};
    let (_tmp, state) = state();
    let store = open(&state).unwrap().store;
    let (record, trial) = (experiment("e1", 1), |number| Trial {
        number,
        block: 0,
        configuration: 1,
        workload: "4k-qd1".into(),
        metrics: [(Metric::Iops, 1000.5)].into(),
        latency: vec![],
        started_at: "2026-01-02T03:04:05Z".into(),
        void: (number == 1).then(|| "AC power changed".into()),
    });
    store.begin_experiment(&record).unwrap();
    for number in 0..3 {
        store.add_trial("e1", &trial(number)).unwrap();
    }
    assert_eq!(store.trials("e1").unwrap(), [trial(0), trial(1), trial(2)]);
    assert_eq!(store.trial_count("e1").unwrap(), 3);
    for living in ["", "e1"] {
        assert!(store.mark_experiments_interrupted(Some(living)).unwrap().is_empty());
    }
    assert_eq!(store.experiment("e1").unwrap().state, RunState::Running);
    assert_eq!(store.mark_experiments_interrupted(Some("another")).unwrap(), ["e1"]);
    let stored = store.experiment("e1").unwrap();
    assert_eq!((stored.record, stored.state), (record.clone(), RunState::Interrupted));
    assert_eq!(stored.error.unwrap().code, ErrorCode::Interrupted);
    store.begin_experiment(&record).unwrap();
    store.finish_experiment("e1", RunState::Done, "2026-01-02T04:00:00Z", None, Some("nothing")).unwrap();
    let stored = store.experiment("e1").unwrap();
    assert_eq!((stored.state, stored.error), (RunState::Done, None));
    assert!(matches!(store.experiment("e2"), Err(StoreError::NoExperiment(_))));
    assert_eq!(store.experiments().unwrap(), ["e1"]);
}

#[test]
fn an_experiment_of_a_newer_version_is_refused_in_words() {
    let (_tmp, state) = state();
    let store = open(&state).unwrap().store;
    store.begin_experiment(&experiment("e1", 99)).unwrap();
    let body = ErrorBody::from(store.experiment("e1").unwrap_err());
    assert_eq!(body.code, ErrorCode::Usage);
    assert!(body.message.contains("of version 99"), "{body}");
}
