//! Experiments over HTTP and WebSocket, on a machine written as files.

use crate::common::{Access, Socket, TestServer, directory, give_to_server, reads, refused};
use crate::process::Program;
use protocol::event::{Event, Frame};
use protocol::experiment::workloads::CHECK;
use protocol::experiment::{ExperimentFile, ExperimentSummary, PlanPreview};
use protocol::knob::{Knob, Lifetime, Origin};
use protocol::run::RunState;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Turbo, energy bias and governor of two CPUs.
const FILES: [(&str, &str); 12] = [
    ("proc/sys/kernel/random/boot_id", "6f1c9a3e-0000-4000-8000-000000000000"),
    ("sys/devices/system/cpu/online", "0-1"),
    ("sys/devices/system/cpu/present", "0-1"),
    ("sys/devices/system/cpu/intel_pstate/status", "active"),
    (TURBO, "0"),
    ("sys/devices/system/cpu/cpu0/power/energy_perf_bias", "6"),
    ("sys/devices/system/cpu/cpu1/power/energy_perf_bias", "6"),
    ("sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0 1"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_driver", "intel_pstate"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave"),
    ("sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors", "performance powersave"),
    ("sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference", "balance_performance"),
];
/// 1 while turbo is off.
const TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";

/// The machine, its server, and a place to measure.
struct Lab {
    dir: TempDir,
    server: Program,
}

impl Lab {
    fn new() -> Self {
        let dir = directory();
        for (path, text) in FILES {
            let path = dir.path().join("host").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        fs::create_dir(dir.path().join("target")).unwrap();
        give_to_server(&dir.path().join("target"));
        let server = Program::below(&dir.path().join("host"), &dir.path().join("state"));
        Self { dir, server }
    }

    fn access(&self) -> &Access {
        &self.server.access
    }

    fn target(&self) -> PathBuf {
        self.dir.path().join("target")
    }

    /// Two knobs, each alone: three configurations, and trials as short as they can be. So sure as this it is not before
    /// all blocks have run.
    fn spec(&self, blocks: u32) -> Value {
        let workload =
            json!({ "name": "single", "rw": "randread", "size": "4m", "runtime": "60ms", "ramp_time": "20ms" });
        json!({ "design": "one-at-a-time", "target": self.target(), "knobs": ["cpu.turbo", "cpu.epb"],
            "from": "all-performance", "workloads": [workload], "min_blocks": 2, "max_blocks": blocks, "confidence": 0.9999 })
    }

    /// Starts an experiment that does not care how busy this machine is.
    async fn start(&self, blocks: u32) -> String {
        let path = "/api/v1/experiments?patience=0s";
        let answer = self.access().post(path, &self.spec(blocks)).send().await.unwrap();
        assert_eq!(answer.status(), 202, "{}", answer.text().await.unwrap());
        let id = answer.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
        let page = self.access().get(&format!("/api/v1/experiments/{id}")).send().await.unwrap();
        assert_eq!(page.status(), 200, "it is there as soon as its id is known");
        id
    }

    /// The settings that are not as they were found.
    fn changed(&self) -> Vec<&'static str> {
        let host = self.dir.path().join("host");
        let as_found = |(path, text): &&(&str, &str)| fs::read_to_string(host.join(path)).unwrap().trim() == *text;
        FILES.iter().filter(|file| !as_found(file)).map(|(path, _)| *path).collect()
    }

    async fn knob(&self, id: &str) -> Knob {
        let state = self.access().json("/api/v1/knobs").await;
        let knobs: Vec<Knob> = serde_json::from_value(state["knobs"].clone()).unwrap();
        knobs.into_iter().find(|k| k.id == id).unwrap()
    }

    async fn set(&self, id: &str, value: &str) -> reqwest::Response {
        let body = json!({ "set": [{ "id": id, "value": value }] });
        self.access().post("/api/v1/knobs", &body).send().await.unwrap()
    }

    async fn file(&self, id: &str) -> ExperimentFile {
        serde_json::from_value(self.access().json(&format!("/api/v1/experiments/{id}")).await).unwrap()
    }

    async fn resume(&self, id: &str) -> reqwest::Response {
        let path = format!("/api/v1/experiments/{id}/resume?patience=0s");
        self.access().post(&path, &json!({})).send().await.unwrap()
    }

    async fn delete(&self, id: &str) -> u16 {
        self.access().delete(&format!("/api/v1/experiments/{id}")).send().await.unwrap().status().as_u16()
    }

    /// The same machine with another server, after the end of the one before.
    fn again(self, signal: Signal) -> Self {
        let Self { dir, server } = self;
        server.signal(signal);
        server.end();
        let server = Program::below(&dir.path().join("host"), &dir.path().join("state"));
        Self { dir, server }
    }
}

async fn trial(viewer: &mut Socket) {
    viewer.until(|e| matches!(e, Event::TrialFinished { .. })).await;
}

async fn end_of(viewer: &mut Socket) -> RunState {
    let frames = viewer.until(|e| matches!(e, Event::ExperimentFinished { .. })).await;
    match &frames.last().unwrap().event {
        Event::ExperimentFinished { state, .. } => *state,
        other => panic!("{other:?}"),
    }
}

async fn pause(access: &Access, id: &str, viewer: &mut Socket) {
    let answer = access.post(&format!("/api/v1/experiments/{id}/pause"), &json!({})).send().await.unwrap();
    assert_eq!(answer.status(), 204);
    viewer.until(|e| matches!(e, Event::ExperimentPaused { paused: true, .. })).await;
}

/// Every block whole, and nothing of what was known before lost.
fn assert_whole(file: &ExperimentFile, blocks: usize, before: &ExperimentFile) {
    assert!(file.report.trials.starts_with(&before.report.trials), "trials were lost");
    let counted = file.report.trials.iter().filter(|t| t.void.is_none()).count();
    assert_eq!(counted, 3 * blocks, "{:?}", file.report.void);
    assert!(file.report.trials.iter().zip(0..).all(|(t, n)| t.number == n));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_experiment_from_start_to_removal() {
    let lab = Lab::new();
    let access = lab.access();
    let mut viewer = access.socket().await;
    // What was set by hand is no reason against an experiment, and is there again after it.
    assert_eq!(lab.set("cpu.epb", "performance").await.status(), 200);
    let by_hand = lab.knob("cpu.epb").await;
    let by_hand_files = lab.changed();
    let id = lab.start(8).await;
    trial(&mut viewer).await;

    let frame: Frame = access.socket().await.frame().await;
    let Event::Snapshot(state) = frame.event else { panic!("{frame:?}") };
    let live = state.experiment.unwrap();
    assert_eq!((&live.head.id, live.state, live.paused), (&id, RunState::Running, false));
    assert!(!live.trials.is_empty() && live.head.configurations.len() == 3, "{live:?}");
    let text = refused(lab.set("cpu.turbo", "off").await, 409, "busy").await;
    assert!(
        text.contains("An experiment changes settings now: one-at-a-time on /") && text.contains("pause"),
        "{text}"
    );
    for (path, body) in [("/api/v1/experiments", lab.spec(4)), ("/api/v1/runs", reads(&lab.target(), 100))] {
        let text = refused(access.post(path, &body).send().await.unwrap(), 409, "busy").await;
        assert!(text.contains("the experiment one-at-a-time on"), "{text}");
    }
    let plan = access.post("/api/v1/experiments/plan", &lab.spec(4)).send().await.unwrap();
    let plan: PlanPreview = plan.json().await.unwrap();
    let busy = plan.refused.unwrap();
    assert!(busy.message.contains("the experiment one-at-a-time") && busy.hint.unwrap().contains("or stop it"));
    // What the experiment has set just now is nobody's.
    let epb = plan.changes.iter().find(|k| k.id == "cpu.epb").unwrap();
    assert!(epb.now.is_none() || epb.now == by_hand.value, "{epb:?}");

    pause(access, &id, &mut viewer).await;
    assert_eq!((lab.changed(), lab.knob("cpu.epb").await), (by_hand_files, by_hand.clone()));
    assert_eq!(lab.set("cpu.turbo", "off").await.status(), 200, "settings are free while it pauses");
    let list: Vec<ExperimentSummary> = serde_json::from_value(access.json("/api/v1/experiments").await).unwrap();
    assert_eq!((list[0].state, list.len()), (RunState::Running, 1));
    let paused = lab.file(&id).await;
    assert_eq!(list[0].trials as usize, paused.report.trials.len());
    assert_eq!(lab.resume(&id).await.status(), 202);
    let frames = viewer.until(|e| matches!(e, Event::ExperimentPaused { .. })).await;
    assert!(matches!(frames.last().unwrap().event, Event::ExperimentPaused { paused: false, .. }));
    assert_eq!(end_of(&mut viewer).await, RunState::Done);

    assert_eq!(lab.knob("cpu.epb").await, by_hand);
    let turbo = lab.knob("cpu.turbo").await;
    assert_eq!((turbo.value.as_deref(), turbo.origin), (Some("off"), Origin::Ours));
    assert_eq!(turbo.lifetime, Some(Lifetime::Session));
    let file = lab.file(&id).await;
    assert_eq!(file.state, RunState::Done);
    assert_whole(&file, 8, &paused);
    let list: Vec<ExperimentSummary> = serde_json::from_value(access.json("/api/v1/experiments").await).unwrap();
    assert_eq!((list[0].state, list[0].headline.as_ref()), (RunState::Done, Some(&file.report.headline)));
    assert_eq!(fs::read_dir(lab.target()).unwrap().count(), 0, "the file is gone");

    let text = refused(lab.resume(&id).await, 400, "usage").await;
    assert!(text.contains("ended by itself"), "{text}");
    let again = access.post(&format!("/api/v1/experiments/{id}/pause"), &json!({})).send().await.unwrap();
    assert!(refused(again, 409, "usage").await.contains("not on"));
    assert_eq!(lab.delete(&id).await, 204);
    viewer.until(|e| matches!(e, Event::Experiments { removed } if removed.as_ref() == Some(&id))).await;
    assert_eq!(lab.delete(&id).await, 404);
    assert_eq!(access.get(&format!("/api/v1/experiments/{id}")).send().await.unwrap().status(), 404);
    assert_eq!(access.json("/api/v1/experiments").await, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_stopped_has_what_it_knows_and_goes_on() {
    let lab = Lab::new();
    let mut viewer = lab.access().socket().await;
    let id = lab.start(6).await;
    trial(&mut viewer).await;
    // Stopping works while it pauses, too.
    pause(lab.access(), &id, &mut viewer).await;
    assert_eq!(lab.delete(&id).await, 202);
    assert_eq!(end_of(&mut viewer).await, RunState::Stopped);
    assert_eq!(lab.changed(), [""; 0]);
    let stopped = lab.file(&id).await;
    assert!(stopped.state == RunState::Stopped && !stopped.report.trials.is_empty());

    assert_eq!(lab.resume(&id).await.status(), 202);
    trial(&mut viewer).await;
    // Putting everything back stops it first.
    let answer = lab.access().post("/api/v1/restore", &json!({})).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(lab.changed(), [""; 0]);
    assert_eq!(end_of(&mut viewer).await, RunState::Stopped);

    assert_eq!(lab.resume(&id).await.status(), 202);
    assert_eq!(end_of(&mut viewer).await, RunState::Done);
    assert_whole(&lab.file(&id).await, 6, &stopped);
    assert_eq!(lab.changed(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_a_server_leaves_goes_on_with_the_next() {
    for (signal, state) in [(Signal::TERM, RunState::Stopped), (Signal::KILL, RunState::Interrupted)] {
        let lab = Lab::new();
        let mut viewer = lab.access().socket().await;
        let id = lab.start(6).await;
        trial(&mut viewer).await;
        let before = lab.file(&id).await;
        drop(viewer);
        let lab = lab.again(signal);
        let patience = Instant::now() + Duration::from_mins(1);
        while !lab.changed().is_empty() {
            assert!(Instant::now() < patience, "{signal:?}: {:?} is not back", lab.changed());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let list: Vec<ExperimentSummary> =
            serde_json::from_value(lab.access().json("/api/v1/experiments").await).unwrap();
        assert_eq!((&list[0].id, list[0].state), (&id, state));
        assert!(list[0].headline.is_some(), "what it knew is said");
        assert_eq!(fs::read_dir(lab.target()).unwrap().count(), 0, "the file is gone");
        let mut viewer = lab.access().socket().await;
        assert_eq!(lab.resume(&id).await.status(), 202);
        assert_eq!(end_of(&mut viewer).await, RunState::Done);
        assert_whole(&lab.file(&id).await, 6, &before);
        assert_eq!(lab.changed(), [""; 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_says_what_would_be_done() {
    let lab = Lab::new();
    let body = json!({ "design": "check", "target": lab.target(), "seed": 7 });
    let plan = lab.access().post("/api/v1/experiments/plan", &body).send().await.unwrap();
    let plan: PlanPreview = plan.json().await.unwrap();
    let ids: Vec<&str> = plan.changes.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids, plan.spec.knobs, "what was left open is filled in");
    assert!(["cpu.turbo", "cpu.governor", "cpu.epb"].iter().all(|id| ids.contains(id)), "{ids:?}");
    assert_eq!(plan.workloads, CHECK);
    assert_eq!(plan.question, "Which setting slows this drive?");
    let turbo = &plan.changes[0];
    assert_eq!((turbo.now.as_deref(), turbo.values.len()), (Some("on"), 2));
    // Trials of half a second and their ramps under four configurations, and the settings between them.
    assert_eq!(plan.trials_per_block as usize, 4 * CHECK.len());
    let trials = f64::from(plan.trials_per_block);
    assert!(plan.block_seconds > 0.5 * trials && plan.block_seconds < 2.0 * trials, "{plan:?}");
    assert!(plan.least_seconds >= plan.block_seconds && plan.most_seconds > plan.least_seconds, "{plan:?}");
    assert!(plan.refused.is_none() && plan.notes.iter().any(|n| n.contains("laid out")), "{plan:?}");
    assert!(lab.changed().is_empty() && fs::read_dir(lab.target()).unwrap().count() == 0, "nothing was touched");
    // As a file it is the same experiment.
    let file: protocol::experiment::ExperimentSpec = toml::from_str(&plan.toml).unwrap();
    assert_eq!(file, plan.spec);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_experiment_is_said_with_what_would_be_one() {
    let lab = Lab::new();
    let with = |key: &str, value: Value| {
        let mut spec = lab.spec(4);
        spec[key] = value;
        spec
    };
    let cases = [
        (with("knobs", json!(["cpu.trubo"])), 400, "did you mean `cpu.turbo`?"),
        (with("workloads", json!(["4k-qd2"])), 400, "did you mean `4k-qd1`?"),
        (with("treshold_percent", json!(1)), 400, "did you mean `threshold_percent`?"),
        (with("threshold_percent", json!(0)), 400, "threshold_percent is 0"),
        (with("max_blocks", json!(1)), 400, "below min_blocks"),
        (with("knobs", json!(["cpu.prochot"])), 403, "cpu.prochot cannot be set here"),
        (with("target", json!("target")), 400, "absolute"),
        (json!([]), 400, "JSON object"),
    ];
    let unstartable = [
        (with("target", json!("/no/such/place")), 422, "/no/such/place"),
        (with("workloads", json!([{ "name": "w", "rw": "randread", "size": "99999g" }])), 422, "space"),
    ];
    let code = |status| match status {
        400 => "usage",
        403 => "not-permitted",
        _ => "target-refused",
    };
    for (body, status, words) in &cases {
        for path in ["/api/v1/experiments", "/api/v1/experiments/plan"] {
            let text = refused(lab.access().post(path, body).send().await.unwrap(), *status, code(*status)).await;
            assert!(text.contains(words), "{path} {body}: {text}");
        }
    }
    for (body, status, words) in &unstartable {
        let answer = lab.access().post("/api/v1/experiments", body).send().await.unwrap();
        let text = refused(answer, *status, code(*status)).await;
        assert!(text.contains(words), "{body}: {text}");
        let plan = lab.access().post("/api/v1/experiments/plan", body).send().await.unwrap();
        let plan: PlanPreview = plan.json().await.unwrap();
        assert!(plan.refused.is_some_and(|e| e.message.contains(words)), "{body}");
    }
    assert_eq!(lab.access().json("/api/v1/experiments").await, json!([]), "nothing of all this became one");
    assert!(lab.changed().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_as_its_keys_or_refused_by_line() {
    let server = TestServer::start().await;
    let read = async |toml: &str| {
        let body = json!({ "toml": toml });
        server.access.post("/api/v1/experiments/read", &body).send().await.unwrap()
    };
    let spec: serde_json::Value = read("design = \"ab\"\nseed = 7\n").await.json().await.unwrap();
    assert_eq!(spec, json!({ "design": "ab", "seed": 7 }));
    let text = refused(read("design = \"ab\"\nsead = 7\n").await, 400, "usage").await;
    assert!(text.contains("did you mean `seed`"), "{text}");
    let nowhere = json!({ "design": "wait-mode", "target": "" });
    let plan = server.access.post("/api/v1/experiments/plan", &nowhere).send().await.unwrap();
    let plan: PlanPreview = plan.json().await.unwrap();
    assert_eq!(plan.refused.unwrap().message, "No target is named.");
    let started = server.access.post("/api/v1/experiments", &nowhere).send().await.unwrap();
    refused(started, 422, "target-refused").await;
    let odd = json!({ "design": "abb", "target": "/" });
    let text = refused(server.access.post("/api/v1/experiments", &odd).send().await.unwrap(), 400, "usage").await;
    assert!(text.contains("did you mean `ab`") && !text.contains("line 1"), "{text}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_rights_a_plan_can_be_seen_but_not_started() {
    let server = TestServer::start().await;
    let body = json!({ "design": "one-at-a-time", "target": server.target(), "workloads": ["4k-qd1"] });
    let answer = server.access.post("/api/v1/experiments", &body).send().await.unwrap();
    assert_eq!(answer.status(), 403, "{}", answer.text().await.unwrap());
    let waits = json!({ "design": "wait-mode", "target": server.target(), "workloads": ["4k-qd1"] });
    let plan = server.access.post("/api/v1/experiments/plan", &waits).send().await.unwrap();
    let plan: PlanPreview = plan.json().await.unwrap();
    assert!(plan.refused.is_none() && plan.changes.is_empty(), "{plan:?}");
    server.stop().await;
}
