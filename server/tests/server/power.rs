//! Settings over HTTP and WebSocket, where nothing can be set.

use crate::common::{TestServer, refused};
use protocol::power::{PowerEvent, PowerFrame, PowerState};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn without_rights_everything_is_listed_and_nothing_is_set() {
    let server = TestServer::start().await;
    let state: PowerState = serde_json::from_value(server.access.json("/api/v1/knobs").await).unwrap();
    assert_eq!((state.read_only.as_deref(), state.changed), (Some("needs root: start with sudo"), 0));
    assert!(state.knobs.iter().all(|k| !k.writable && !k.restart));
    for (path, body) in [
        ("/api/v1/knobs", json!({ "profile": "saving" })),
        ("/api/v1/knobs/confirm", json!({})),
        ("/api/v1/restore", json!({})),
    ] {
        let answer = server.access.post(path, &body).send().await.unwrap();
        assert!(refused(answer, 403, "not-permitted").await.contains("start with sudo"), "{path}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_said() {
    let server = TestServer::start().await;
    let cases = [
        (json!({}), "Nothing is asked for"),
        (json!({ "set": [{ "id": "cpu.turbo" }] }), "`value` is missing"),
        (json!({ "profile": "fast" }), "unknown word `fast`"),
        (json!({ "paths": ["/sys"] }), "unknown key `paths`"),
    ];
    for (body, words) in cases {
        let answer = server.access.post("/api/v1/knobs", &body).send().await.unwrap();
        let said = refused(answer, 400, "usage").await;
        assert!(said.contains(words), "{said}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_begins_with_everything() {
    let server = TestServer::start().await;
    for path in ["/ws/power", "/ws/power?telemetry=0", "/ws/power?telemetry=1"] {
        let frame: PowerFrame = server.access.socket_at(path).await.frame().await;
        let PowerEvent::Snapshot(state) = frame.event else { panic!("{frame:?}") };
        assert!(state.read_only.is_some(), "{path}");
    }
    let mut watching = server.access.socket_at("/ws/power").await;
    loop {
        let frame: PowerFrame = watching.frame().await;
        if let PowerEvent::Telemetry(sample) = frame.event
            && !sample.cpus.is_empty()
        {
            assert!(
                sample.interval_ms > 0.0 && sample.cpus.iter().all(|c| (0.0..=1.0).contains(&c.busy)),
                "{sample:?}"
            );
            break;
        }
    }
    let answer = server.access.get("/ws/power?telemetry=many").send().await.unwrap();
    refused(answer, 400, "usage").await;
    server.stop().await;
}
