//! What kiosk screens ask for.

use crate::common::{TestServer, refused};
use crate::import::FILE;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn panels_are_drawn_for_viewers_under_the_mask_and_are_empty_where_there_is_nothing() {
    let server = TestServer::start().await;
    let panel = async |name: &str| {
        let answer = server.viewers.get(&format!("/api/v1/kiosk/panels/{name}")).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{name}");
        answer.text().await.unwrap()
    };
    assert_eq!((panel("verdict").await, panel("ladder").await, panel("run").await), Default::default());
    assert!(panel("host").await.contains("kiosk-facts"));
    let mut file: Value = serde_json::from_str(FILE).unwrap();
    file["experiment"]["spec"]["name"] = json!("Saved in /home/zebra-user/giraffe place");
    file["spec"]["name"] = file["experiment"]["spec"]["name"].clone();
    let sent = server.access.post("/api/v1/experiments/import", &file).send().await.unwrap();
    assert_eq!(sent.status(), 201, "{}", sent.text().await.unwrap());
    let (own, theirs) =
        (server.access.get("/api/v1/kiosk/panels/verdict").send().await.unwrap(), panel("verdict").await);
    assert!(own.text().await.unwrap().contains("/home/zebra-user"));
    assert!(theirs.contains("class=\"headline\"") && theirs.contains("<svg"), "{theirs}");
    assert!(!theirs.contains("zebra-user"), "{theirs}");
    // Once more, from what was drawn before.
    assert_eq!(panel("verdict").await, theirs);
    let answer = server.viewers.get("/api/v1/kiosk/panels/verdit").send().await.unwrap();
    assert!(refused(answer, 404, "not-found").await.contains("did you mean `verdict`?"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_answered_with_what_it_shows_over_what_is_configured() {
    let server = TestServer::start_with(|options| options.kiosk.shift = false).await;
    let plan = async |query: &str| {
        let answer = server.viewers.request(Method::GET, &format!("/api/v1/kiosk/plan{query}")).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{query}");
        answer.json::<Value>().await.unwrap()
    };
    let all = json!(["run", "verdict", "ladder", "host"]);
    assert_eq!(
        plan("").await,
        json!({ "show": all, "dwell_ms": 20e3, "dim": null, "shift": false, "stay": true, "notes": [] })
    );
    let asked = plan("?show=host%2Crun&dwell=7&font=x").await;
    assert_eq!((&asked["show"], &asked["dwell_ms"]), (&json!(["host", "run"]), &json!(7e3)));
    assert!(asked["notes"][0].as_str().unwrap().contains("`font`"), "{asked}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_a_pulse_gets_one_with_the_number_of_the_last_event() {
    let server = TestServer::start().await;
    let mut screen = server.viewers.socket_at("/ws/bench?pulse=1").await;
    let snapshot: Value = screen.frame().await;
    assert_eq!(snapshot["type"], "snapshot");
    for _ in 0..2 {
        let pulse: Value = screen.frame().await;
        assert_eq!((&pulse["type"], &pulse["seq"]), (&json!("pulse"), &snapshot["seq"]));
    }
    drop(screen);
    server.stop().await;
}
