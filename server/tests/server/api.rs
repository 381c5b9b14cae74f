//! The API in good use, and what it says to requests that are wrong in themselves.

use crate::common::{TestServer, refused};
use protocol::event::Event;
use protocol::run::RunState;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_from_start_to_removal() {
    let server = TestServer::start().await;
    let access = &server.access;
    let mut viewer = access.socket().await;
    let id = access.start(&server.reads(300)).await;
    assert_eq!(viewer.end_of(&id).await, RunState::Done);

    let detail = access.run(&id).await;
    assert_eq!((detail.record.state, detail.record.results.len()), (RunState::Done, 1));
    assert!(detail.record.results[0].iops().0 > 0.0);
    assert!(detail.record.host.kernel.is_some() && detail.record.drive.is_some(), "conditions are stored");
    let list = access.json("/api/v1/runs").await;
    assert_eq!((&list[0]["id"], &list[0]["state"]), (&json!(id), &json!("done")));
    assert!(list[0]["headline"]["iops"].as_f64().unwrap() > 0.0);

    let samples = access.json(&format!("/api/v1/runs/{id}/samples")).await;
    let ios: u64 = samples.as_array().unwrap().iter().map(|s| s["read"]["ios"].as_u64().unwrap()).sum();
    assert!(ios >= detail.record.results[0].read.as_ref().unwrap().ios, "every completion is in a stored sample");
    assert_eq!(access.json(&format!("/api/v1/runs/{id}/samples?step=7")).await, json!([]));

    let export = access.get(&format!("/api/v1/runs/{id}/export")).send().await.unwrap();
    let name = export.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert_eq!(name, format!("attachment; filename=\"brakecheck-{id}.json\""));
    let export: Value = export.json().await.unwrap();
    assert_eq!((&export["record"]["id"], &export["samples"]), (&json!(id), &samples));

    assert_eq!(access.delete(&format!("/api/v1/runs/{id}")).send().await.unwrap().status(), 204);
    let gone = access.get(&format!("/api/v1/runs/{id}")).send().await.unwrap();
    assert!(refused(gone, 404, "not-found").await.contains(&id));
    let frames = viewer.until(|e| matches!(e, Event::Runs { removed: Some(_), .. })).await;
    assert!(matches!(&frames.last().unwrap().event, Event::Runs { removed, .. } if removed.as_ref() == Some(&id)));
    assert_eq!(std::fs::read_dir(server.target()).unwrap().count(), 0, "nothing is left in the target");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preset_is_scored() {
    let server = TestServer::start().await;
    let mut viewer = server.access.socket().await;
    let body = json!({ "target": server.target(), "preset": "cdm3", "columns": ["read"], "repetitions": 1,
        "size": "16m", "runtime": "60ms", "pause": 0 });
    let id = server.access.start(&body).await;
    assert_eq!(viewer.end_of(&id).await, RunState::Done);
    let detail = server.access.run(&id).await;
    assert_eq!(detail.cells.len(), 4);
    assert!(detail.cells.iter().all(|c| c.score.is_some() && c.passes == 1));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_machine_is_described() {
    let server = TestServer::start().await;
    let access = &server.access;
    let system = access.json("/api/v1/system").await;
    assert_eq!(system["version"], protocol::VERSION);
    assert!(system["host"]["kernel"].is_string());
    let presets = access.json("/api/v1/presets").await;
    assert_eq!(presets[0]["name"], "cdm8");
    assert!(access.json("/api/v1/targets").await.is_array());

    let target = server.target();
    let url = format!("/api/v1/targets/inspect?path={}", target.display());
    let choice = access.json(&url).await;
    assert_eq!((&choice["target"]["kind"], &choice["refused"]), (&json!("directory"), &Value::Null));
    let absent = access.get("/api/v1/targets/inspect?path=/no/such/place").send().await.unwrap();
    assert!(refused(absent, 422, "target-refused").await.contains("/no/such/place"));
    refused(access.get("/api/v1/targets/inspect").send().await.unwrap(), 400, "usage").await;

    let metrics = access.get("/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("brakecheck_run_active 0\n"), "{metrics}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_requests_are_told_what_is_wrong() {
    let server = TestServer::start().await;
    let access = &server.access;
    let target = server.target();
    let workload = |w: Value| json!({ "target": target, "workloads": [w] });
    let cases = [
        (json!([]), "JSON object"),
        (json!({ "target": target }), "preset"),
        (json!({ "target": "", "preset": "cdm8" }), "target is empty"),
        (json!({ "target": target, "preset": "cdm9" }), "unknown preset `cdm9`"),
        (json!({ "target": target, "preset": "cdm8", "colour": 1 }), "colour"),
        (workload(json!({ "rw": "sideways" })), "workloads[0].rw"),
        (workload(json!({ "rw": "read", "bs": "4x" })), "workloads[0].bs"),
        (workload(json!({ "rw": "read", "bs": 0 })), "bs"),
        (workload(json!({ "rw": "read", "bs": "1000" })), "multiple of 512"),
        (workload(json!({ "rw": "read", "iodepth": 0 })), "iodepth"),
        (workload(json!({ "rw": "read", "iodepth": -1 })), "workloads[0].iodepth"),
        (workload(json!({ "rw": "read", "bs": "1m", "size": "4k" })), "size"),
        (workload(json!({ "rw": "read", "size": "99999999999g" })), "too large"),
        (workload(json!({ "rw": "read", "blocksize": "4k" })), "blocksize"),
    ];
    for (body, word) in cases {
        let text = refused(access.post("/api/v1/runs", &body).send().await.unwrap(), 400, "usage").await;
        assert!(text.contains(word), "{body}: {text}");
    }
    let raw = |text: &str| access.post("/api/v1/runs", &Value::Null).body(text.to_owned()).send();
    for text in ["", "{", "{\"target\": \"/tmp\",}", "{} {}", "\u{0}"] {
        refused(raw(text).await.unwrap(), 400, "usage").await;
    }
    let huge = format!("{{\"target\": \"{}\"}}", "x".repeat(1 << 20));
    assert!(refused(raw(&huge).await.unwrap(), 413, "usage").await.contains("256 KiB"));

    let mut body = server.reads(100);
    body["target"] = json!("/no/such/place");
    let text = refused(access.post("/api/v1/runs", &body).send().await.unwrap(), 422, "target-refused").await;
    assert!(text.contains("/no/such/place"), "{text}");

    refused(access.get("/api/v1/nothing").send().await.unwrap(), 404, "not-found").await;
    refused(access.get("/api").send().await.unwrap(), 404, "not-found").await;
    refused(access.get("/api/v1/runs/nothing").send().await.unwrap(), 404, "not-found").await;
    refused(access.delete("/api/v1/runs/nothing").send().await.unwrap(), 404, "not-found").await;
    refused(access.delete("/api/v1/runs").send().await.unwrap(), 405, "usage").await;
    assert_eq!(access.json("/api/v1/runs").await, json!([]), "nothing of all this became a run");
    server.stop().await;
}

#[test]
fn the_description_of_the_api_changes_only_on_purpose() {
    // The order of keys depends on what else is built: other crates may turn on `preserve_order` of `serde_json`.
    insta::with_settings!({sort_maps => true}, { insta::assert_json_snapshot!(server::http::openapi()) });
}
