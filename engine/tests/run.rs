//! Whole runs through the public interface, on real files.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its place has failed")]

use engine::{Control, EngineError, Outcome, RunOptions};
use protocol::error::ErrorCode;
use protocol::event::Event;
use protocol::plan::RunSpec;
use protocol::result::{CaveatKind, IoPathKind, StepResult};
use protocol::units::{Bytes, Micros, Seconds};
use protocol::workload::{Rw, Workload};
use std::fs;
use std::path::Path;

/// In the build directory, which lies on a disk where /tmp may lie in memory.
fn place() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn quick(rw: Rw) -> Workload {
    Workload { size: Some(Bytes(8 << 20)), runtime: Seconds(Micros(100_000)), iodepth: 4, ..Workload::new(rw) }
}

fn options(top: &Path) -> RunOptions {
    RunOptions { run: "test".into(), registry: top.join("registry"), near_cpus: Vec::new() }
}

fn run(spec: &RunSpec, top: &Path) -> (Result<Outcome, EngineError>, Vec<Event>) {
    let mut events = Vec::new();
    let outcome = engine::run::run(spec, &options(top), &Control::default(), &mut |e| events.push(e));
    (outcome, events)
}

fn results(events: &[Event]) -> Vec<&StepResult> {
    events
        .iter()
        .filter_map(|e| if let Event::WorkloadFinished { result, .. } = e { Some(&**result) } else { None })
        .collect()
}

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).unwrap().next().is_none()
}

fn data(top: &Path) -> String {
    let dir = top.join("data dir: ü\n");
    fs::create_dir(&dir).unwrap();
    dir.to_str().unwrap().to_owned()
}

#[test]
fn a_run_in_a_directory_leaves_nothing_and_tells_everything_in_order() {
    let top = place();
    let dir = data(top.path());
    let spec = RunSpec::of_workloads(dir.as_str(), &[quick(Rw::RandRead), quick(Rw::RandRw)], 2);
    let (outcome, events) = run(&spec, top.path());
    assert_eq!(outcome.unwrap(), Outcome::Done);
    assert!(is_empty(Path::new(&dir)) && is_empty(&top.path().join("registry")));
    let results = results(&events);
    assert_eq!(results.iter().map(|r| r.step).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(results.iter().all(|r| !r.cut_short && r.iops().0 > 0.0));
    // Each step's events stand together, the samples between its start and its end.
    let mut open = None;
    for event in &events {
        match event {
            Event::Layout { .. } | Event::Pause { .. } => assert_eq!(open, None),
            Event::WorkloadStarted { step, .. } => assert_eq!(open.replace(*step), None),
            Event::Sample { sample, .. } => {
                assert_eq!(open, Some(sample.step));
                assert!((0.0..=1.0).contains(&sample.progress) && sample.eta_ms >= 0.0);
            }
            Event::WorkloadFinished { result, .. } => assert_eq!(open.take(), Some(result.step)),
            other => panic!("{other:?} is not the engine's to say"),
        }
    }
}

#[test]
fn a_pause_is_told_while_it_passes() {
    let top = place();
    let dir = data(top.path());
    let mut spec = RunSpec::of_workloads(dir.as_str(), &[quick(Rw::RandRead)], 2);
    spec.steps[1].pause = Seconds(Micros(500_000));
    let (outcome, events) = run(&spec, top.path());
    outcome.unwrap();
    let told = events.iter().filter_map(|e| match e {
        Event::Pause { step, left_ms, eta_ms, .. } => Some((*step, *left_ms, *eta_ms)),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert!(told.len() >= 2 && told.iter().all(|t| t.0 == 1));
    assert!(told.windows(2).all(|w| w[1].1 < w[0].1 && w[1].2 < w[0].2), "{told:?}");
}

#[test]
fn direct_accesses_are_proven_by_the_block_layer_where_there_is_one() {
    let top = place();
    let dir = data(top.path());
    let facts = engine::target::inspect(&dir).unwrap();
    if facts.dev.is_none() || !facts.direct.supported {
        eprintln!("skipped: {} has no block device with direct I/O", facts.path);
        return;
    }
    let spec = RunSpec::of_workloads(dir.as_str(), &[quick(Rw::RandRead), quick(Rw::RandWrite)], 1);
    let (outcome, events) = run(&spec, top.path());
    outcome.unwrap();
    for result in results(&events) {
        assert_eq!(result.path.kind, IoPathKind::Direct, "{}", result.path.evidence);
        let counted = result.path.block_layer.unwrap();
        let moved = |d: &Option<protocol::result::Direction>| d.as_ref().map_or(0, |d| d.bytes.0);
        assert!(counted.read_bytes.0 >= moved(&result.read) && counted.write_bytes.0 >= moved(&result.write));
    }
}

#[test]
fn buffered_runs_are_labelled_and_not_comparable() {
    let top = place();
    let dir = data(top.path());
    let w = Workload { buffered: true, ..quick(Rw::RandRead) };
    let (outcome, events) = run(&RunSpec::of_workloads(dir.as_str(), &[w], 1), top.path());
    outcome.unwrap();
    let result = results(&events)[0].clone();
    assert_eq!(result.not_comparable(), Some("page cache"));
    assert!(result.caveats.iter().any(|c| c.kind == CaveatKind::PageCache));
}

#[test]
fn a_kept_file_is_found_again_and_then_removed() {
    let top = place();
    let dir = data(top.path());
    let mut spec = RunSpec::of_workloads(dir.as_str(), &[quick(Rw::Read)], 1);
    spec.keep_file = true;
    run(&spec, top.path()).0.unwrap();
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
    assert!(engine::own_file::remove_leftovers(&top.path().join("registry")).is_empty(), "kept means kept");
    spec.keep_file = false;
    let (outcome, events) = run(&spec, top.path());
    outcome.unwrap();
    assert!(!events.iter().any(|e| matches!(e, Event::Layout { .. })), "laid out again");
    assert!(is_empty(Path::new(&dir)));
}

#[test]
fn existing_files_are_read_and_never_written() {
    let top = place();
    let file = top.path().join("theirs");
    let content: Vec<u8> = (0..8u32 << 20).map(|i| (i % 251) as u8).collect();
    fs::write(&file, &content).unwrap();
    let target = file.to_str().unwrap();
    let read = RunSpec::of_workloads(target, &[Workload { size: None, ..quick(Rw::RandRead) }], 1);
    run(&read, top.path()).0.unwrap();
    for rw in [Rw::Write, Rw::RandWrite, Rw::Rw, Rw::RandRw] {
        let error = run(&RunSpec::of_workloads(target, &[quick(rw)], 1), top.path()).0.unwrap_err().body();
        assert_eq!(error.code, ErrorCode::TargetRefused);
        assert!(error.message.contains("existing file"), "{}", error.message);
    }
    assert!(fs::read(&file).unwrap() == content);
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is_made() {
    let top = place();
    let dir = data(top.path());
    let missing = top.path().join("nowhere");
    let file = top.path().join("small");
    fs::write(&file, vec![1; 8192]).unwrap();
    let w = quick(Rw::RandRead);
    let huge = Workload { size: Some(Bytes(1 << 60)), ..w.clone() };
    let big_blocks = Workload { size: None, bs: Bytes(1 << 20), ..w.clone() };
    let cases: [(&str, &Workload, ErrorCode, &str); 5] = [
        (missing.to_str().unwrap(), &w, ErrorCode::TargetRefused, "no "),
        ("/dev/null", &w, ErrorCode::TargetRefused, "character device"),
        (&dir, &huge, ErrorCode::TargetRefused, "Not enough space"),
        (file.to_str().unwrap(), &big_blocks, ErrorCode::Usage, "has 8 KiB"),
        (file.to_str().unwrap(), &w, ErrorCode::Usage, "has 8 KiB"),
    ];
    for (target, workload, code, words) in cases {
        let error =
            run(&RunSpec::of_workloads(target, std::slice::from_ref(workload), 1), top.path()).0.unwrap_err().body();
        assert_eq!(error.code, code, "{}", error.message);
        assert!(error.message.contains(words) && error.hint.is_some(), "{error:?}");
    }
    assert!(is_empty(Path::new(&dir)));
}

#[test]
fn memory_is_no_drive() {
    if !fs::read_to_string("/proc/self/mountinfo").unwrap().contains(" /dev/shm ") {
        eprintln!("skipped: no tmpfs at /dev/shm");
        return;
    }
    let top = tempfile::tempdir_in("/dev/shm").unwrap();
    let dir = data(top.path());
    let w = quick(Rw::RandRead);
    let error =
        run(&RunSpec::of_workloads(dir.as_str(), std::slice::from_ref(&w), 1), top.path()).0.unwrap_err().body();
    assert_eq!(error.code, ErrorCode::TargetRefused);
    assert!(error.message.contains("memory") && error.hint.unwrap().contains("--buffered"));
    let (outcome, events) =
        run(&RunSpec::of_workloads(dir.as_str(), &[Workload { buffered: true, ..w }], 1), top.path());
    assert_eq!(outcome.unwrap(), Outcome::Done);
    assert_eq!(results(&events)[0].path.kind, IoPathKind::PageCache);
}

#[test]
fn a_stop_keeps_what_was_measured_and_removes_the_file() {
    let top = place();
    let dir = data(top.path());
    let long = Workload { runtime: Seconds::from_secs(600), ..quick(Rw::RandRead) };
    let control = Control::default();
    let mut finished = Vec::new();
    let spec = RunSpec::of_workloads(dir.as_str(), &[quick(Rw::Read), long], 1);
    let outcome = engine::run::run(&spec, &options(top.path()), &control, &mut |e| match e {
        Event::Sample { sample, .. } if sample.step == 1 => control.stop(),
        Event::WorkloadFinished { result, .. } => finished.push(result.cut_short),
        _ => {}
    });
    assert_eq!(outcome.unwrap(), Outcome::Stopped);
    assert_eq!(finished, [false, true]);
    assert!(is_empty(Path::new(&dir)));
}

#[test]
fn a_directory_removed_meanwhile_ends_the_run_with_words() {
    let top = place();
    let dir = data(top.path());
    let long = Workload { runtime: Seconds::from_secs(600), ..quick(Rw::RandRead) };
    let spec = RunSpec::of_workloads(dir.as_str(), &[long], 1);
    let outcome = engine::run::run(&spec, &options(top.path()), &Control::default(), &mut |e| {
        if matches!(e, Event::Sample { .. }) {
            let _ = fs::remove_dir_all(&dir);
        }
    });
    let error = outcome.unwrap_err().body();
    assert_eq!(error.code, ErrorCode::RunFailed);
    assert!(error.message.contains("removed"), "{}", error.message);
    assert!(is_empty(&top.path().join("registry")));
}

#[test]
fn holes_are_told() {
    let top = place();
    let path = top.path().join("sparse");
    fs::File::create(&path).unwrap().set_len(8 << 20).unwrap();
    let w = Workload { size: None, ..quick(Rw::RandRead) };
    let (outcome, events) = run(&RunSpec::of_workloads(path.to_str().unwrap(), &[w], 1), top.path());
    outcome.unwrap();
    assert!(results(&events)[0].caveats.iter().any(|c| c.kind == CaveatKind::Sparse));
}

#[test]
fn without_invalidation_a_laid_out_file_is_read_from_the_cache() {
    let top = place();
    let dir = data(top.path());
    let cached = Workload { buffered: true, invalidate: false, ..quick(Rw::RandRead) };
    let (outcome, events) = run(&RunSpec::of_workloads(dir.as_str(), &[cached], 1), top.path());
    outcome.unwrap();
    let result = results(&events)[0];
    if let Some(counted) = result.path.block_layer {
        let read = result.read.as_ref().unwrap().bytes.0;
        assert!(counted.read_bytes.0 < read / 2, "{read} read, {} from the drive", counted.read_bytes.0);
    }
}
