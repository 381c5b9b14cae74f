//! Experiments of another host, sent to a server as files.

use crate::common::{Access, TestServer, refused};
use protocol::event::Event;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An experiment as the first version wrote it: such files must stay readable.
pub(crate) const FILE: &str = include_str!("testdata/experiment.json");

async fn send(access: &Access, body: impl Into<reqwest::Body>) -> reqwest::Response {
    let request = access.client.post(access.url("/api/v1/experiments/import")).bearer_auth(&access.token);
    request.header("content-type", "application/json").body(body).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_experiment_of_another_host_is_kept_once_and_told() {
    let server = TestServer::start().await;
    let mut viewer = server.access.socket().await;
    let first = send(&server.access, FILE).await;
    assert_eq!(first.status(), 201);
    let first: Value = first.json().await.unwrap();
    assert_eq!((first["id"].as_str(), &first["notes"]), (Some("20261130-110000-000-abcd"), &serde_json::json!([])));
    viewer.until(|e| matches!(e, Event::Experiments { removed: None })).await;
    let again = send(&server.access, FILE).await;
    assert_eq!(again.status(), 200);
    assert_eq!(again.json::<Value>().await.unwrap()["known"], true);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_experiment_is_refused_in_words() {
    let server = TestServer::start().await;
    let deep = format!("{{\"trials\":{}", "[".repeat(100_000));
    let cases = [
        ("", "The file is empty."),
        ("[]", "does not begin with `{`"),
        (&FILE[..FILE.len() / 2], "truncated"),
        (&FILE.replacen("\"format\":1", "\"format\":2", 1), "of version 2"),
        (&deep, "more than 16 levels"),
    ];
    for (body, words) in cases {
        let told = refused(send(&server.access, body.to_owned()).await, 400, "usage").await;
        assert!(told.contains(words), "{told}");
    }
    let without_token = server.access.client.post(server.access.url("/api/v1/experiments/import"));
    let without_token = without_token.header("content-type", "application/json").body(FILE);
    refused(without_token.send().await.unwrap(), 401, "unauthorized").await;
    server.stop().await;
}

/// The answer to a body of 200 MB whose length is told before, and to one that just does not end.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_200_mb_is_refused_before_its_end() {
    let server = TestServer::start().await;
    let Access { authority, token, .. } = &server.access;
    for framing in ["Content-Length: 200000000", "Transfer-Encoding: chunked"] {
        let head = format!(
            "POST /api/v1/experiments/import HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\n{framing}\r\n\r\n"
        );
        let (mut from, mut to) = TcpStream::connect(authority).await.unwrap().into_split();
        let sender = tokio::spawn(async move {
            to.write_all(head.as_bytes()).await.unwrap();
            let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
            let mut sent = 0u32;
            // The server hangs up in the middle of it.
            while sent < 200 && to.write_all(chunk.as_bytes()).await.is_ok() {
                sent += 1;
            }
            sent
        });
        let mut answer = vec![0; 12];
        from.read_exact(&mut answer).await.unwrap();
        assert_eq!(&String::from_utf8_lossy(&answer)[9..], "413", "{framing}");
        drop(from);
        let sent = sender.await.unwrap();
        assert!(sent < 200, "{framing}: {sent} MiB were taken");
    }
    // And it goes on serving.
    assert_eq!(send(&server.access, FILE).await.status(), 201);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn experiments_of_two_hosts_stand_side_by_side() {
    let server = TestServer::start().await;
    let access = &server.access;
    let (here, there) = ("20261130-110000-000-abcd", "20261130-110000-000-0001");
    let other = FILE.replace("bench7", "<script>").replace(here, there);
    for file in [FILE.to_owned(), other] {
        assert_eq!(send(access, file).await.status(), 201);
    }
    let address = format!("/api/v1/experiments/compare?ids={here},{there}");
    let data = access.json(&format!("{address}&format=json")).await;
    assert_eq!(data["sides"][1]["host"], "<script>");
    let cells = data["effects"][0]["cells"].as_array().unwrap();
    assert_eq!((cells.len(), &cells[0]["estimate_percent"]), (2, &cells[1]["estimate_percent"]));
    assert_eq!(data["speeds"][0]["cells"][1]["n"], 20);
    let answer = access.get(&address).send().await.unwrap();
    assert!(answer.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
    let html = answer.text().await.unwrap();
    assert!(html.contains("&lt;script&gt; (imported)") && !html.contains("<script>"), "{html}");
    assert!(html.contains("not comparable: page cache"), "{html}");

    let refusal = |ids: &str| access.get(&format!("/api/v1/experiments/compare?ids={ids}")).send();
    let told = refused(refusal(here).await.unwrap(), 400, "usage").await;
    assert!(told.contains("two experiments or more"), "{told}");
    let told = refused(refusal(&format!("{here},{here}")).await.unwrap(), 400, "usage").await;
    assert!(told.contains("named twice"), "{told}");
    refused(refusal(&format!("{here},x")).await.unwrap(), 404, "not-found").await;
    server.stop().await;
}
