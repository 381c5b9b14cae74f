//! Requests that are not to be answered: other hosts, other sites, without the token.

use crate::common::{Access, PATIENCE, TestServer, refused};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

const SESSION: &str = "/api/v1/session";

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_exchanged_for_a_cookie() {
    let server = TestServer::start().await;
    let access = &server.access;
    let port = access.authority.rsplit(':').next().unwrap();
    let exchange = |token: &str| access.client.post(access.url(SESSION)).json(&json!({ "token": token })).send();

    let wrong = exchange("wrong").await.unwrap();
    assert!(wrong.headers().get("set-cookie").is_none());
    refused(wrong, 401, "unauthorized").await;

    let right = exchange(&access.token).await.unwrap();
    assert_eq!(right.status(), 204);
    let cookie = right.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.starts_with(&format!("brakecheck-{port}=")), "{cookie}");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(&access.token), "cookies are shown to other servers of this host");

    let cookie = cookie.split(';').next().unwrap();
    let session = access.client.get(access.url(SESSION)).header("cookie", cookie).send().await.unwrap();
    assert_eq!(session.json::<serde_json::Value>().await.unwrap(), json!({ "role": "operator" }));
    let by_page = access.client.post(access.url("/api/v1/runs")).header("cookie", cookie);
    let by_page = by_page.header("origin", format!("http://{}", access.authority)).json(&json!({}));
    refused(by_page.send().await.unwrap(), 400, "usage").await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_token_there_is_only_the_page() {
    let server = TestServer::start().await;
    let access = &server.access;
    for path in ["/", "/healthz", "/results/x"] {
        assert_eq!(access.client.get(access.url(path)).send().await.unwrap().status(), 200, "{path}");
    }
    for path in ["/api/v1/runs", "/api/v1/system", "/api/openapi.json", "/metrics", "/api/v1/nothing", SESSION] {
        refused(access.client.get(access.url(path)).send().await.unwrap(), 401, "unauthorized").await;
        let wrong = access.client.get(access.url(path)).bearer_auth("wrong").send().await.unwrap();
        refused(wrong, 401, "unauthorized").await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_hosts_and_sites_are_refused_everywhere() {
    let server = TestServer::start().await;
    let access = &server.access;
    for path in ["/", "/healthz", "/api/v1/runs", "/ws/bench", "/metrics"] {
        let rebound = access.get(path).header("host", "evil.example").send().await.unwrap();
        assert!(refused(rebound, 403, "forbidden-host").await.contains("--allow-host evil.example"), "{path}");
        let foreign = access.get(path).header("origin", "https://evil.example").send().await.unwrap();
        assert!(refused(foreign, 403, "forbidden-host").await.contains("https://evil.example"), "{path}");
        // A rebinding page's Origin equals its Host.
        let pair = access.get(path).header("host", "evil.example").header("origin", "http://evil.example");
        refused(pair.send().await.unwrap(), 403, "forbidden-host").await;
    }
    let page = access.get("/").header("host", "evil.example").header("accept", "text/html").send().await.unwrap();
    let text = page.text().await.unwrap();
    assert!(text.starts_with("<!doctype html>") && text.contains("evil.example"), "{text}");
    let port = access.authority.rsplit(':').next().unwrap();
    let listed = access.get("/healthz").header("host", format!("bench.example:{port}")).send().await.unwrap();
    assert_eq!(listed.status(), 200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_form_can_send_changes_nothing() {
    let server = TestServer::start().await;
    let body = server.reads(100).to_string();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let request = server.access.client.post(server.access.url("/api/v1/runs")).bearer_auth(&server.access.token);
        let response = request.header("content-type", kind).body(body.clone()).send().await.unwrap();
        assert!(refused(response, 415, "usage").await.contains("application/json"));
    }
    assert_eq!(server.access.json("/api/v1/runs").await, json!([]));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_needs_its_own_page_or_the_token() {
    let server = TestServer::start().await;
    let access = &server.access;
    let post = access.client.post(access.url(SESSION)).json(&json!({ "token": access.token })).send().await.unwrap();
    let cookie = post.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let own = format!("http://{}", access.authority);
    let cases = [
        (vec![], 401),
        (vec![("cookie", cookie.as_str())], 401),
        (vec![("origin", own.as_str())], 401),
        (vec![("cookie", cookie.as_str()), ("origin", "http://evil.example")], 403),
        (vec![("cookie", cookie.as_str()), ("origin", own.as_str())], 101),
    ];
    for (headers, status) in cases {
        assert_eq!(upgrade(access, &headers).await, status, "{headers:?}");
    }
    server.stop().await;
}

/// Status of the answer to a WebSocket request with these headers.
async fn upgrade(access: &Access, headers: &[(&'static str, &str)]) -> u16 {
    let mut request = format!("ws://{}/ws/bench", access.authority).into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    match tokio_tungstenite::connect_async(request).await {
        Ok((_, response)) => response.status().as_u16(),
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_no_client_makes() {
    let server = TestServer::start().await;
    for authority in [&server.access.authority, &server.viewers.authority] {
        no_client_makes(authority).await;
    }
    server.stop().await;
}

async fn no_client_makes(authority: &str) {
    let port = authority.rsplit(':').next().unwrap();
    let cases = [
        (format!("GET / HTTP/1.0\r\nHost: {authority}\r\n\r\n"), "200"),
        ("GET / HTTP/1.0\r\n\r\n".to_owned(), "400"),
        (format!("GET http://{authority}/ HTTP/1.1\r\nHost: {authority}\r\n\r\n"), "200"),
        (format!("GET / HTTP/1.1\r\nHost: LOCALHOST.:{port}\r\n\r\n"), "200"),
        (format!("GET / HTTP/1.1\r\nHost: [::1]:{port}\r\n\r\n"), "200"),
        (format!("GET / HTTP/1.1\r\nHost: [fe80::1%25eth0]:{port}\r\n\r\n"), "200"),
        (format!("GET / HTTP/1.1\r\nHost: 0.0.0.0:{port}\r\n\r\n"), "403"),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n".to_owned(), "403"),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "400"),
        (format!("GET / HTTP/1.1\r\nHost: {authority}\r\nHost: {authority}\r\n\r\n"), "400"),
        (format!("GET http://evil.example/ HTTP/1.1\r\nHost: {authority}\r\n\r\n"), "400"),
        ("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(), "403"),
        (format!("GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: {authority}\r\n\r\n"), "200"),
        (format!("GET /../../etc/passwd.txt HTTP/1.1\r\nHost: {authority}\r\n\r\n"), "404"),
        (format!("GET //api/v1/runs HTTP/1.1\r\nHost: {authority}\r\n\r\n"), "200"),
        (format!("GET / HTTP/1.1\r\nHost: {authority}\r\nX: {}\r\n\r\n", "x".repeat(1 << 20)), "431"),
    ];
    for (request, status) in cases {
        let mut stream = TcpStream::connect(authority).await.unwrap();
        // The server may answer and hang up before it has read a megabyte of header.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut answer = vec![0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        let line = request.lines().next().unwrap();
        assert_eq!(&String::from_utf8_lossy(&answer)[9..], status, "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_never_ends_is_given_up_and_a_large_body_is_not_read() {
    let server = TestServer::start().await;
    let half = async |authority: &str| {
        let mut stream = TcpStream::connect(authority).await.unwrap();
        stream.write_all(format!("GET / HTTP/1.1\r\nHost: {authority}\r\nX: ").as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let end = tokio::time::timeout(3 * PATIENCE, stream.read_to_end(&mut rest)).await;
        assert!(end.is_ok(), "{authority} waits for ever");
    };
    tokio::join!(half(&server.access.authority), half(&server.viewers.authority));
    let huge = server.viewers.request(reqwest::Method::POST, "/api/v1/runs").body("x".repeat(1 << 20)).send().await;
    // The answer may come before the body was taken; the connection then ends under it.
    assert!(huge.is_err() || huge.unwrap().status() == 404);
    server.stop().await;
}
