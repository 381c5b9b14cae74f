//! The listener for viewers on the network.

use crate::common::{Lan, PATIENCE, TestServer, refused};
use crate::roles::operations;
use protocol::api::LanStatus;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::{Event, Frame};
use protocol::sample::Sample;
use reqwest::Method;
use serde_json::{Value, json};
use server::lan::{Choice, Secret};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

#[tokio::test(flavor = "multi_thread")]
async fn every_verb_that_could_change_something_finds_nothing_on_any_path() {
    let server = TestServer::start().await;
    let known = operations(&server::http::openapi());
    let others = ["/", "/results", "/index.html", "/healthz", "/ws/bench", "/ws/power", "/api", "/api/openapi.json"];
    let paths = known.iter().map(|(_, path)| path.as_str()).chain(others);
    for path in paths {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS, Method::TRACE] {
            // The operator's token is worth nothing there.
            let request = server.viewers.request(method.clone(), path).bearer_auth(&server.access.token);
            let status = request.json(&json!({})).send().await.unwrap().status();
            assert_eq!(status, 404, "{method} {path}");
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_see_runs_and_streams_and_nothing_of_the_operators() {
    let server = TestServer::start().await;
    let viewers = &server.viewers;
    for path in ["/", "/results/x", "/healthz", "/api/v1/runs", "/api/v1/experiments", "/api/v1/presets"] {
        assert_eq!(viewers.get(path).send().await.unwrap().status(), 200, "{path}");
    }
    let session: Value = viewers.get("/api/v1/session").send().await.unwrap().json().await.unwrap();
    assert_eq!(session, json!({ "role": "viewer" }));
    for path in ["/metrics", "/api/v1/targets", "/api/v1/targets/inspect?path=/", "/api/v1/lan", "/api/v1/nothing"] {
        let response = viewers.get(path).bearer_auth(&server.access.token).send().await.unwrap();
        if path == "/metrics" {
            let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
            assert!(kind.starts_with("text/html"), "the page, not the numbers: {kind}");
        } else {
            refused(response, 404, "not-found").await;
        }
    }
    let document: Value = viewers.get("/api/openapi.json").send().await.unwrap().json().await.unwrap();
    assert!(
        document["paths"]["/api/v1/runs"]["post"].is_null() && document["paths"]["/api/v1/runs"]["get"].is_object()
    );

    let (mut bench, mut power) = (viewers.socket_at("/ws/bench").await, viewers.socket_at("/ws/power").await);
    assert!(matches!(bench.frame::<Frame>().await.event, Event::Snapshot(_)));
    let power: Value = power.frame().await;
    assert_eq!(power["type"], "snapshot");
    let status: LanStatus = serde_json::from_value(server.access.json("/api/v1/lan").await).unwrap();
    assert_eq!((status.on, status.configured, status.viewers), (true, true, 1));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_hosts_and_sites_are_refused_by_the_same_rules() {
    let server = TestServer::start().await;
    let viewers = &server.viewers;
    for path in ["/", "/healthz", "/api/v1/runs", "/ws/bench"] {
        let rebound = viewers.get(path).header("host", "evil.example").header("origin", "http://evil.example");
        let told = refused(rebound.send().await.unwrap(), 403, "forbidden-host").await;
        assert!(told.contains("--allow-host evil.example"), "{path}: {told}");
        let foreign = viewers.get(path).header("origin", "https://evil.example").send().await.unwrap();
        refused(foreign, 403, "forbidden-host").await;
        let other_port = viewers.get(path).header("origin", format!("http://{}", server.access.authority));
        refused(other_port.send().await.unwrap(), 403, "forbidden-host").await;
    }
    let page = viewers.get("/").header("host", "evil.example").header("accept", "text/html").send().await.unwrap();
    assert!(page.text().await.unwrap().starts_with("<!doctype html>"));
    let port = viewers.authority.rsplit(':').next().unwrap();
    let listed = viewers.get("/healthz").header("host", format!("bench.example:{port}")).send().await.unwrap();
    assert_eq!(listed.status(), 200);
    let page = viewers.get("/").send().await.unwrap();
    assert!(page.headers()["content-security-policy"].to_str().unwrap().contains("frame-ancestors 'none'"));
    assert!(page.headers().get("access-control-allow-origin").is_none());

    for (origin, status) in [(None, 403), (Some("http://evil.example"), 403)] {
        let mut request = format!("ws://{}/ws/bench", viewers.authority).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {}", server.access.token).parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        match tokio_tungstenite::connect_async(request).await {
            Err(Error::Http(response)) => assert_eq!(response.status(), status, "{origin:?}"),
            other => panic!("{origin:?}: {other:?}"),
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_switches_it_off_and_on() {
    let server = TestServer::start().await;
    let mut viewer = server.viewers.socket_at("/ws/bench").await;
    viewer.frame::<Frame>().await;
    let switch = |on: bool| server.access.post("/api/v1/lan", &json!({ "on": on })).send();
    let status: LanStatus = switch(false).await.unwrap().json().await.unwrap();
    assert_eq!((status.on, status.url), (false, None));
    match viewer.message().await {
        Message::Close(Some(frame)) => assert_eq!(frame.code, CloseCode::Away),
        other => panic!("{other:?}"),
    }
    assert!(TcpStream::connect(&server.viewers.authority).await.is_err(), "nobody listens");
    refused(server.access.get("/api/v1/lan/qr.svg").send().await.unwrap(), 404, "not-found").await;

    let status: LanStatus = switch(true).await.unwrap().json().await.unwrap();
    let viewers = Lan::at(&status.url.unwrap());
    assert_eq!(viewers.get("/healthz").send().await.unwrap().status(), 200);
    assert_eq!(switch(true).await.unwrap().status(), 200, "it is on already");
    let qr = server.access.get("/api/v1/lan/qr.svg").send().await.unwrap();
    assert_eq!(qr.headers()["content-type"], "image/svg+xml");
    assert!(qr.text().await.unwrap().contains("<svg"));
    // The operator's own pages went on meanwhile.
    server.access.socket().await.frame::<Frame>().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_viewers_see_every_event() {
    let server = TestServer::start().await;
    let mut viewers = Vec::new();
    for _ in 0..200 {
        let mut viewer = server.viewers.socket_at("/ws/bench").await;
        viewer.frame::<Frame>().await;
        viewers.push(viewer);
    }
    let error = ErrorBody::new(ErrorCode::Internal, "x".repeat(1000));
    for _ in 0..20 {
        server.hub.publish(&Event::Error { error: error.clone() });
    }
    for viewer in &mut viewers {
        for seq in 1..=20 {
            assert_eq!(viewer.frame::<Frame>().await.seq, seq);
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_cannot_take_all_places_and_gives_back_those_it_had() {
    let server = TestServer::start().await;
    let mut idle = Vec::new();
    for _ in 0..256 {
        idle.push(TcpStream::connect(&server.viewers.authority).await.unwrap());
    }
    // The next one is accepted by the kernel and ended by the server.
    let mut one_more = TcpStream::connect(&server.viewers.authority).await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, one_more.read(&mut [0; 16])).await.expect("it stays open");
    assert!(matches!(ended, Ok(0) | Err(_)));
    assert_eq!(server.access.get("/healthz").send().await.unwrap().status(), 200, "the operator is not concerned");
    drop(idle);
    let back = async { while server.viewers.get("/healthz").send().await.is_err() {} };
    tokio::time::timeout(PATIENCE, back).await.expect("the places are not given back");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_password_viewers_must_know_it_and_are_then_known() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("password");
    std::fs::write(&file, "open sesame\n").unwrap();
    let server = TestServer::start_with(|o| o.viewer_password = Some(Secret::read(&file).unwrap())).await;
    let viewers = &server.viewers;
    assert_eq!(viewers.get("/healthz").send().await.unwrap().status(), 200);
    // The page has nothing in it but the question.
    assert_eq!(viewers.get("/").send().await.unwrap().status(), 200);
    for path in ["/api/v1/runs", "/api/v1/session", "/api/openapi.json", "/ws/bench"] {
        let asked = viewers.get(path).header("origin", format!("http://{}", viewers.authority)).send().await.unwrap();
        assert!(!asked.headers().contains_key("www-authenticate"), "{path}: the browser would ask by itself");
        refused(asked, 401, "password").await;
    }
    let visited = viewers.get("/api/v1/runs").header("accept", "text/html").send().await.unwrap();
    assert!(visited.status() == 401 && visited.headers()["www-authenticate"].to_str().unwrap().starts_with("Basic "));
    let known = viewers.get("/api/v1/runs").basic_auth("x", Some("open sesame")).send().await.unwrap();
    assert_eq!(known.status(), 200);
    let cookie = known.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("sesame"),
        "{cookie}"
    );
    let cookie = cookie.split(';').next().unwrap();
    let by_cookie = viewers.get("/api/v1/session").header("cookie", cookie).send().await.unwrap();
    assert_eq!(by_cookie.json::<Value>().await.unwrap(), json!({ "role": "viewer" }));
    // It is no operator's cookie, and the token is no password.
    let port = server.access.authority.rsplit(':').next().unwrap();
    let forged = format!("brakecheck-{port}={}", cookie.split_once('=').unwrap().1);
    let at_operator = server.access.client.get(server.access.url("/api/v1/runs")).header("cookie", forged);
    refused(at_operator.send().await.unwrap(), 401, "unauthorized").await;
    let by_token = viewers.get("/api/v1/runs").bearer_auth(&server.access.token).send().await.unwrap();
    refused(by_token, 401, "password").await;

    for _ in 0..5 {
        let wrong = viewers.get("/api/v1/session").basic_auth("x", Some("guess")).send().await.unwrap();
        assert!(refused(wrong, 401, "password").await.contains("is not the viewers' password"));
    }
    let no_more = viewers.get("/api/v1/session").basic_auth("x", Some("open sesame")).send().await.unwrap();
    let told = refused(no_more, 429, "password").await;
    assert!(told.contains("Try again in "), "{told}");
    assert_eq!(
        viewers.get("/api/v1/session").header("cookie", cookie).send().await.unwrap().status(),
        200,
        "who is known stays so"
    );
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_encryption_page_and_stream_come_over_tls_alone() {
    let server = TestServer::start_with(|o| o.viewer_tls = Some(Choice::Own)).await;
    let status: LanStatus = serde_json::from_value(server.access.json("/api/v1/lan").await).unwrap();
    assert!(status.url.unwrap().starts_with("https://") && status.fingerprint.is_some());
    let pem = std::fs::read(server.dir.path().join("state/viewers.pem")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&pem).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let authority = &server.viewers.authority;
    let connect = async || {
        let stream = TcpStream::connect(authority).await.unwrap();
        connector.connect("127.0.0.1".try_into().unwrap(), stream).await.unwrap()
    };
    let mut stream = connect().await;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\r\nok "), "{answer}");

    for (scheme, taken) in [("https", true), ("http", false)] {
        let mut request = format!("wss://{authority}/ws/bench").into_client_request().unwrap();
        request.headers_mut().insert("origin", format!("{scheme}://{authority}").parse().unwrap());
        let upgraded = tokio_tungstenite::client_async(request, connect().await).await;
        assert_eq!(upgraded.is_ok(), taken, "{scheme}");
    }
    let plain = server.viewers.get("/healthz").send().await;
    assert!(plain.is_err(), "{plain:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_that_never_read_cost_a_bounded_amount_and_no_other_viewer_anything() {
    let server = TestServer::start().await;
    let mut stalled = Vec::new();
    for _ in 0..50 {
        stalled.push(server.viewers.socket_at("/ws/bench").await);
    }
    let mut healthy = server.viewers.socket_at("/ws/bench").await;
    healthy.frame::<Frame>().await;
    // Far more than the kernel holds for all of them together.
    let error = ErrorBody::new(ErrorCode::Internal, "x".repeat(100_000));
    for seq in 1..=60 {
        server.hub.publish(&Event::Error { error: error.clone() });
        assert_eq!(healthy.frame::<Frame>().await.seq, seq);
    }
    assert_eq!(server.access.get("/healthz").send().await.unwrap().status(), 200);
    server.stop().await;
}

/// Connections that one address may have.
const CONNECTIONS: usize = 256;

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_not_taken_have_a_bound_and_an_end() {
    let server = TestServer::start().await;
    let id = server.access.start(&server.reads(50)).await;
    server.access.socket().await.end_of(&id).await;
    let samples = vec![Sample::default(); 2000];
    server.app.runner.store().append_samples(&id, 1000, &samples).unwrap();
    let path = format!("/api/v1/runs/{id}/samples");
    let whole = server.viewers.get(&path).send().await.unwrap().bytes().await.unwrap();

    // All of them together would be far more than there is room for.
    let authority = &server.viewers.authority;
    assert!(CONNECTIONS * whole.len() > 96 << 20, "{}", whole.len());
    let ask = async || {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = socket.connect(authority.parse().unwrap()).await.unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        (String::from_utf8_lossy(&answer).into_owned(), stream)
    };
    let mut held = Vec::new();
    let full = loop {
        let (answer, stream) = ask().await;
        held.push(stream);
        if answer != "HTTP/1.1 200" {
            break answer;
        }
        assert!(held.len() < CONNECTIONS - 8, "there is room for everything");
    };
    assert_eq!(full, "HTTP/1.1 503");
    // Small answers are given all the same, and the operator has room of his own.
    assert_eq!(server.viewers.get("/api/v1/session").send().await.unwrap().status(), 200);
    assert_eq!(server.access.get(&path).send().await.unwrap().bytes().await.unwrap().len(), whole.len());
    // Those that take nothing are given up before long.
    let again = async {
        loop {
            let answer = server.viewers.get(&path).send().await.unwrap();
            if answer.status() == 200 {
                break answer.bytes().await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    assert_eq!(tokio::time::timeout(3 * PATIENCE, again).await.expect("there is never room again"), whole);
    server.stop().await;
}
