//! One run at a time.

use crate::common::{TestServer, refused};
use protocol::event::Event;
use protocol::run::{RunRecord, RunState, RunSummary};
use serde_json::{Value, json};
use server::lock::Lock;
use server::state_dir::StateDir;

#[tokio::test(flavor = "multi_thread")]
async fn a_second_run_is_refused_or_waits_its_turn() {
    let server = TestServer::start().await;
    let access = &server.access;
    let mut viewer = access.socket().await;
    let first = access.start(&server.reads(1000)).await;
    let refusal = access.post("/api/v1/runs", &server.reads(100)).send().await.unwrap();
    let text = refused(refusal, 409, "busy").await;
    assert!(text.contains("randread 4k QD4") && text.contains(&server.target().display().to_string()), "{text}");

    let mut waiting = server.reads(100);
    waiting["queue"] = json!(true);
    let (second, third) = (access.start(&waiting).await, access.start(&waiting).await);
    let list = access.json("/api/v1/runs").await;
    let states: Vec<&Value> = list.as_array().unwrap().iter().map(|r| &r["state"]).collect();
    assert_eq!(states, ["queued", "queued", "running"]);
    let dequeued = access.delete(&format!("/api/v1/runs/{third}")).send().await.unwrap();
    assert_eq!(dequeued.status(), 200);
    assert_eq!(access.run(&third).await.record.state, RunState::Stopped);

    let frames = viewer.until(|e| matches!(e, Event::RunFinished { run, .. } if *run == second)).await;
    let order: Vec<(&str, &str)> = frames
        .iter()
        .filter_map(|f| match &f.event {
            Event::RunStarted { run } => Some(("start", run.id.as_str())),
            Event::RunFinished { run, .. } => Some(("end", run.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(order, [("start", &*first), ("end", &*first), ("start", &*second), ("end", &*second)]);
    // Whoever has seen the end may start the next.
    let next = access.start(&server.reads(100)).await;
    assert_eq!(viewer.end_of(&next).await, RunState::Done);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_another_process_is_named_and_waited_for() {
    let server = TestServer::start().await;
    let access = &server.access;
    let state = StateDir::open(server.dir.path().join("state")).unwrap();
    let lock = Lock::take(&state.run_lock(), "read 1m QD8 on /mnt/ssd", Some("theirs")).unwrap();
    let refusal = access.post("/api/v1/runs", &server.reads(100)).send().await.unwrap();
    let text = refused(refusal, 409, "busy").await;
    assert!(text.contains(&std::process::id().to_string()) && text.contains("read 1m QD8 on /mnt/ssd"), "{text}");

    let mut viewer = access.socket().await;
    let mut waiting = server.reads(100);
    waiting["queue"] = json!(true);
    let id = access.start(&waiting).await;
    viewer.until(|e| matches!(e, Event::Runs { queue, .. } if queue.len() == 1)).await;
    assert_eq!(access.run(&id).await.record.state, RunState::Queued);
    drop(lock);
    assert_eq!(viewer.end_of(&id).await, RunState::Done);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orderly_end_drops_the_queue() {
    let server = TestServer::start().await;
    let mut viewer = server.access.socket().await;
    let first = server.access.start(&server.reads(60_000)).await;
    let mut waiting = server.reads(100);
    waiting["queue"] = json!(true);
    let second = server.access.start(&waiting).await;
    viewer.until(|e| matches!(e, Event::Sample { .. })).await;
    let dir = server.stop().await;
    let state = StateDir::open(dir.path().join("state")).unwrap();
    let store = server::store::open(&state).unwrap().store;
    for id in [first, second] {
        assert_eq!(store.get(&id).unwrap().state, RunState::Stopped);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_died_with_its_process_is_noticed_while_the_server_lives() {
    let server = TestServer::start().await;
    let access = &server.access;
    let mut viewer = access.socket().await;
    let id = access.start(&server.reads(100)).await;
    viewer.end_of(&id).await;

    let state = StateDir::open(server.dir.path().join("state")).unwrap();
    let lock = Lock::take(&state.run_lock(), "something", Some("theirs")).unwrap();
    let theirs = RunRecord { id: "theirs".into(), state: RunState::Running, ..access.run(&id).await.record };
    server::store::open(&state).unwrap().store.begin(&theirs).unwrap();
    let mut waiting = server.reads(100);
    waiting["queue"] = json!(true);
    let own = access.start(&waiting).await;
    let states = async || -> Vec<(String, String)> {
        let list: Vec<RunSummary> = serde_json::from_value(access.json("/api/v1/runs").await).unwrap();
        list.into_iter().map(|r| (r.id, r.state.name().to_owned())).collect()
    };
    assert!(states().await.contains(&("theirs".into(), "running".into())));
    let refusal = access.delete("/api/v1/runs/theirs").send().await.unwrap();
    assert!(refused(refusal, 409, "busy").await.contains(&std::process::id().to_string()));
    drop(lock);
    assert!(states().await.contains(&("theirs".into(), "interrupted".into())));
    assert_eq!(viewer.end_of(&own).await, RunState::Done, "the server's own queue is left alone");
    assert_eq!(access.delete("/api/v1/runs/theirs").send().await.unwrap().status(), 204);
    server.stop().await;
}
