//! Secrets are planted wherever there may be some, and looked for in everything that viewers get.

use crate::common::TestServer;
use crate::import::FILE;
use crate::roles::operations;
use protocol::api::RunDetail;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::{Event, Frame};
use protocol::run::{RunRecord, RunState};
use serde_json::{Value, json};

/// Parts of paths, serial numbers, names. None of them may be seen; each is unlike anything else.
const SECRETS: [&str; 6] = ["zebra-user", "giraffe place", "S3RIALZZ", "wallaby-boot", "okapi-mount", "lemur-opts"];

/// A record with all of them.
fn plant(record: &RunRecord) -> RunRecord {
    let mut record = record.clone();
    let place = "/home/zebra-user/giraffe place/fast disk";
    record.spec.target = place.into();
    record.target.path = place.into();
    record.target.mount_point = Some("/okapi-mount/fast".into());
    record.target.mount_options = Some("rw,lemur-opts".into());
    record.host.boot_id = Some("wallaby-boot".into());
    record.drive.get_or_insert_default().serial = Some("S3RIALZZ".into());
    let message = format!("Cannot write to {place}/brakecheck.dat on drive S3RIALZZ (see /okapi-mount/log).");
    record.error = Some(ErrorBody::new(ErrorCode::RunFailed, message).hint("Look at /home/zebra-user/.cache/x."));
    record.state = RunState::Failed;
    record
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_reaches_a_viewer_by_any_route_or_stream() {
    let server = TestServer::start().await;
    let access = &server.access;
    // A run as it was, and the same with secrets beside it in the store.
    let mut operator = access.socket().await;
    let id = access.start(&server.reads(100)).await;
    operator.end_of(&id).await;
    let record = serde_json::from_value::<RunDetail>(access.json(&format!("/api/v1/runs/{id}")).await).unwrap().record;
    let planted = plant(&record);
    let mut stored = planted.clone();
    stored.id = format!("{}0", record.id.trim_end_matches(char::is_alphanumeric)) + "zzz";
    server.app.runner.store().begin(&stored).unwrap();
    server.app.runner.store().finish(&stored).unwrap();
    // An experiment of another host with secrets in it.
    let mut file: Value = serde_json::from_str(FILE).unwrap();
    file["experiment"]["target"] = serde_json::to_value(&planted.target).unwrap();
    file["experiment"]["spec"]["target"] = json!(planted.spec.target);
    file["spec"]["target"] = json!(planted.spec.target);
    file["experiment"]["host"]["boot_id"] = json!("wallaby-boot");
    file["experiment"]["drive"] = serde_json::to_value(&planted.drive).unwrap();
    let sent = access.post("/api/v1/experiments/import", &file).send().await.unwrap();
    assert_eq!(sent.status(), 201, "{}", sent.text().await.unwrap());
    let experiment = sent.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    file["experiment"]["host"]["hostname"] = json!("another");
    let sent = access.post("/api/v1/experiments/import", &file).send().await.unwrap();
    let second = sent.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();

    // Streams: a snapshot and events with secrets in them.
    let mut viewer = server.viewers.socket_at("/ws/bench").await;
    viewer.frame::<Frame>().await;
    server.hub.publish(&Event::RunStarted { run: Box::new(planted.clone()) });
    server.hub.publish(&Event::Error { error: planted.error.clone().unwrap() });
    server.hub.publish(&Event::RunFinished { run: id.clone(), state: RunState::Failed, error: planted.error.clone() });
    let frames = viewer.until(|e| matches!(e, Event::RunFinished { .. })).await;
    let mut seen = vec![("/ws/bench".to_owned(), serde_json::to_string(&frames).unwrap())];
    let snapshot: Value = server.viewers.socket_at("/ws/bench").await.frame().await;
    assert_eq!(snapshot["run"]["id"], json!(id), "the snapshot has the planted run");
    seen.push(("the snapshot".into(), snapshot.to_string()));
    let power: Value = server.viewers.socket_at("/ws/power").await.frame().await;
    seen.push(("/ws/power".into(), power.to_string()));

    // Every route that viewers are offered, for each of these.
    let mut answered = 0;
    for (_, path) in operations(&server::http::viewers_openapi()) {
        for id in [&stored.id, &experiment] {
            let path = path
                .replace("/experiments/1", &format!("/experiments/{id}"))
                .replace("/runs/1", &format!("/runs/{id}"));
            let response = server.viewers.get(&path).send().await.unwrap();
            answered += usize::from(response.status() == 200);
            seen.push((path, response.text().await.unwrap()));
        }
    }
    let mut more: Vec<String> = ["html", "json", "tuned", "tlp", "systemd", "tmpfiles", "cmdline", "script"]
        .map(|format| format!("/api/v1/experiments/{experiment}/export?format={format}"))
        .into();
    more.extend(["", "&format=json"].map(|f| format!("/api/v1/experiments/compare?ids={experiment},{second}{f}")));
    for path in more {
        let response = server.viewers.get(&path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        seen.push((path, response.text().await.unwrap()));
    }
    assert!(answered >= 2 * 5 + 3, "{answered} answers, {:?}", seen.iter().map(|(p, _)| p).collect::<Vec<_>>());
    for (place, text) in &seen {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{secret} is shown at {place}: {text}");
        }
    }
    let all = seen.iter().map(|(_, text)| text.as_str()).collect::<String>();
    assert!(all.contains("\u{2026}/fast disk"), "the last part of the path stays");
    // The operator sees them all, or there was nothing to be found.
    let own = access.json(&format!("/api/v1/runs/{}", stored.id)).await.to_string();
    assert!(SECRETS.iter().all(|secret| own.contains(secret)), "{own}");
    let own = access.json(&format!("/api/v1/experiments/{experiment}")).await.to_string();
    assert!(own.contains("zebra-user") && own.contains("S3RIALZZ"), "{own}");
    server.stop().await;
}
