//! The event stream.

use crate::common::TestServer;
use futures_util::SinkExt;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::{Event, Frame, Snapshot};
use protocol::run::RunState;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

fn snapshot(event: &Event) -> &Snapshot {
    match event {
        Event::Snapshot(snapshot) => snapshot,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_viewers_see_the_same_run_in_order_without_a_gap() {
    let server = TestServer::start().await;
    let (mut one, mut two) = (server.access.socket().await, server.access.socket().await);
    let id = server.access.start(&server.reads(300)).await;
    let ended = |e: &Event| matches!(e, Event::RunFinished { .. });
    let (first, second) = (one.until(ended).await, two.until(ended).await);
    assert_eq!(first, second);
    for pair in first.windows(2) {
        assert_eq!(pair[1].seq, pair[0].seq + 1);
    }
    let mut kinds: Vec<&str> = first
        .iter()
        .map(|f| match &f.event {
            Event::Snapshot(_) => "snapshot",
            Event::RunStarted { run } if run.id == id => "started",
            Event::Layout { .. } => "layout",
            Event::WorkloadStarted { .. } => "workload",
            Event::Sample { .. } => "sample",
            Event::WorkloadFinished { .. } => "result",
            Event::RunFinished { .. } => "finished",
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(kinds.iter().filter(|k| **k == "sample").count() >= 4, "{kinds:?}");
    kinds.dedup();
    kinds.retain(|k| *k != "layout");
    assert_eq!(kinds, ["snapshot", "started", "workload", "sample", "result", "finished"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_in_the_middle_gets_the_state_so_far() {
    let server = TestServer::start().await;
    let mut viewer = server.access.socket().await;
    let id = server.access.start(&server.reads(3000)).await;
    viewer.until(|e| matches!(e, Event::Sample { sample, .. } if sample.t_ms > 250.0)).await;

    let mut late = server.access.socket().await;
    let frame: Frame = late.frame().await;
    let state = snapshot(&frame.event);
    let run = state.run.as_ref().unwrap();
    assert_eq!((&run.id, run.state, state.step), (&id, RunState::Running, Some(0)));
    assert!(state.samples.len() >= 4 && state.samples.windows(2).all(|w| w[0].t_ms < w[1].t_ms));
    let next: Frame = late.frame().await;
    assert_eq!(next.seq, frame.seq + 1);
    let Event::Sample { sample, .. } = &next.event else { panic!("{next:?}") };
    assert!(sample.t_ms > state.samples.last().unwrap().t_ms, "nothing is seen twice");

    late.0.send(Message::text(r#"{"type":"resync"}"#)).await.unwrap();
    let frames = late.until(|e| matches!(e, Event::Snapshot(_))).await;
    assert!(snapshot(&frames.last().unwrap().event).samples.len() > state.samples.len());

    let response = server.access.delete(&format!("/api/v1/runs/{id}")).send().await.unwrap();
    assert_eq!(response.status(), 202);
    assert_eq!(viewer.end_of(&id).await, RunState::Stopped);
    let frame = server.access.socket().await.frame::<Frame>().await;
    assert_eq!(snapshot(&frame.event).run.as_ref().unwrap().state, RunState::Stopped);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_is_named_and_the_connection_stays() {
    let server = TestServer::start().await;
    let mut viewer = server.access.socket().await;
    let first: Frame = viewer.frame().await;
    let cases = [
        (Message::text(r#"{"type":"launch"}"#), "`launch`"),
        (Message::text("hello"), "`hello`"),
        (Message::text("[]"), "`[]`"),
        (Message::binary(vec![1, 2, 3]), "binary"),
    ];
    for (message, word) in cases {
        viewer.0.send(message).await.unwrap();
        let frame: Frame = viewer.frame().await;
        let Event::Error { error } = &frame.event else { panic!("{frame:?}") };
        assert!(error.message.contains(word), "{error}");
        assert_eq!(frame.seq, first.seq, "no gap for this viewer");
    }
    viewer.0.send(Message::text(r#"{"type":"resync"}"#)).await.unwrap();
    snapshot(&viewer.frame::<Frame>().await.event);
    // Too large a message ends the connection, but not the server.
    viewer.0.send(Message::text("x".repeat(100_000))).await.unwrap();
    match viewer.message().await {
        Message::Close(Some(frame)) => assert_eq!(frame.code, CloseCode::Size),
        other => panic!("{other:?}"),
    }
    server.access.socket().await.frame::<Frame>().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_orderly_end_stops_the_run_and_says_farewell() {
    let server = TestServer::start().await;
    let mut viewer = server.access.socket().await;
    let id = server.access.start(&server.reads(60_000)).await;
    viewer.until(|e| matches!(e, Event::Sample { .. })).await;
    let target = server.target();
    let (dir, state) = tokio::join!(server.stop(), viewer.end_of(&id));
    assert_eq!(state, RunState::Stopped);
    match viewer.message().await {
        Message::Close(Some(frame)) => assert_eq!(frame.code, CloseCode::Away),
        other => panic!("{other:?}"),
    }
    assert_eq!(std::fs::read_dir(target).unwrap().count(), 0, "the file is gone");
    let state = server::state_dir::StateDir::open(dir.path().join("state")).unwrap();
    let stored = server::store::open(&state).unwrap().store.get(&id).unwrap();
    assert_eq!((stored.state, stored.results.len()), (RunState::Stopped, 1));
    assert!(stored.results[0].cut_short);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_that_falls_behind_holds_nobody_up_and_gets_a_new_snapshot() {
    let server = TestServer::start().await;
    let mut slow = server.access.narrow_socket().await;
    slow.frame::<Frame>().await;
    // More than the kernel buffers for a connection, while nobody reads: this ends only because nobody is waited for.
    let error = ErrorBody::new(ErrorCode::Internal, "x".repeat(100_000));
    let events = 150;
    for _ in 0..events {
        server.hub.publish(&Event::Error { error: error.clone() });
    }
    let mut last = 0;
    let seen = slow.until(|e| matches!(e, Event::Snapshot(_))).await;
    for frame in &seen {
        assert!(frame.seq == last + 1 || matches!(frame.event, Event::Snapshot(_)), "{} after {last}", frame.seq);
        last = frame.seq;
    }
    assert_eq!(last, events, "the snapshot is of the newest state");
    assert!((seen.len() as u64) < events, "{} frames", seen.len());
    assert_eq!(server.hub.audience(), (1, 1));
    server.stop().await;
}
