//! What every local web service must withstand, one test a line, each at both listeners: the operator's on loopback and
//! the viewers' on the network.

use crate::common::{Access, Lan, PATIENCE, Socket, TestServer, refused};
use crate::roles::operations;
use futures_util::StreamExt;
use protocol::event::{Event, Frame};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::net::{Ipv6Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// A listener, and what lets somebody in there.
#[derive(Clone, Copy)]
enum Door<'a> {
    Operators(&'a Access),
    Viewers(&'a Lan),
}

impl<'a> Door<'a> {
    fn both(server: &'a TestServer) -> [Self; 2] {
        [Self::Operators(&server.access), Self::Viewers(&server.viewers)]
    }

    fn authority(self) -> &'a str {
        match self {
            Self::Operators(access) => &access.authority,
            Self::Viewers(lan) => &lan.authority,
        }
    }

    fn request(self, method: Method, path: &str) -> RequestBuilder {
        match self {
            Self::Operators(access) => access.client.request(method, access.url(path)).bearer_auth(&access.token),
            Self::Viewers(lan) => lan.request(method, path),
        }
    }

    async fn socket(self) -> Socket {
        match self {
            Self::Operators(access) => access.socket().await,
            Self::Viewers(lan) => lan.socket_at("/ws/bench").await,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loopback_alone_and_a_network_only_where_asked_without_a_route_that_changes() {
    let alone = TestServer::start_with(|options| options.lan = None).await;
    let status = alone.access.json("/api/v1/lan").await;
    assert_eq!((&status["on"], &status["url"]), (&json!(false), &Value::Null));
    alone.stop().await;

    let server = TestServer::start().await;
    let port = server.access.authority.rsplit(':').next().unwrap();
    assert!(server.access.authority.starts_with("127.0.0.1:"));
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
        let both = server.access.client.get(format!("http://[::1]:{port}/healthz")).send().await.unwrap();
        assert_eq!(both.status(), 200);
    }
    for (method, path) in operations(&server::http::openapi()) {
        if method != Method::GET {
            let request = server.viewers.request(method.clone(), &path).bearer_auth(&server.access.token);
            assert_eq!(request.json(&json!({})).send().await.unwrap().status(), 404, "{method} {path}");
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_and_origins_are_looked_at_before_anything_else() {
    let server = TestServer::start().await;
    for door in Door::both(&server) {
        // Also where there is nothing, and whatever the method.
        for (method, path) in [(Method::GET, "/healthz"), (Method::GET, "/nowhere.txt"), (Method::POST, "/api/v1/runs")]
        {
            let foreign_host = door.request(method.clone(), path).header("host", "evil.example");
            let told = refused(foreign_host.send().await.unwrap(), 403, "forbidden-host").await;
            assert!(told.contains("evil.example") && told.contains("--allow-host"), "{told}");
            let pair =
                door.request(method.clone(), path).header("host", "a.example").header("origin", "http://a.example");
            refused(pair.send().await.unwrap(), 403, "forbidden-host").await;
            for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
                let foreign = door.request(method.clone(), path).header("origin", origin);
                refused(foreign.send().await.unwrap(), 403, "forbidden-host").await;
            }
        }
    }
    // A socket without an Origin is no page's: it takes the token, which is worth nothing to viewers.
    for (door, status) in Door::both(&server).into_iter().zip([401, 403]) {
        let request = format!("ws://{}/ws/bench", door.authority()).into_client_request().unwrap();
        match tokio_tungstenite::connect_async(request).await {
            Err(tokio_tungstenite::tungstenite::Error::Http(answer)) => assert_eq!(answer.status(), status),
            other => panic!("{other:?}"),
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_something_takes_json_of_its_own_page_and_nothing_is_shared_with_others() {
    let server = TestServer::start().await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        let mut post = Door::Operators(&server.access).request(Method::POST, "/api/v1/runs").body("{}");
        if !kind.is_empty() {
            post = post.header("content-type", kind);
        }
        refused(post.send().await.unwrap(), 415, "usage").await;
        let post = Door::Viewers(&server.viewers).request(Method::POST, "/api/v1/runs").header("content-type", kind);
        assert_eq!(post.body("{}").send().await.unwrap().status(), 404);
    }
    for door in Door::both(&server) {
        let preflight = door.request(Method::OPTIONS, "/api/v1/runs").header("access-control-request-method", "POST");
        let answers =
            [preflight.send().await.unwrap(), door.request(Method::GET, "/api/v1/runs").send().await.unwrap()];
        for answer in answers {
            let shared = answer.headers().keys().find(|name| name.as_str().starts_with("access-control-"));
            assert_eq!(shared, None, "{}", door.authority());
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_exchanged_for_a_cookie_of_this_port_and_lies_in_a_private_file() {
    let server = TestServer::start().await;
    let access = &server.access;
    let exchange = json!({ "token": access.token });
    let answer = access.client.post(access.url("/api/v1/session")).json(&exchange).send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    let port = access.authority.rsplit(':').next().unwrap();
    assert!(cookie.starts_with(&format!("brakecheck-{port}=")), "{cookie}");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let value = cookie.split(';').next().unwrap().split_once('=').unwrap().1;
    let named = |port: &str| format!("brakecheck-{port}={value}");
    let asked = |cookie: String| access.client.get(access.url("/api/v1/runs")).header("cookie", cookie).send();
    assert_eq!(asked(named(port)).await.unwrap().status(), 200);
    let viewers_port = server.viewers.authority.rsplit(':').next().unwrap();
    refused(asked(named(viewers_port)).await.unwrap(), 401, "unauthorized").await;
    // Viewers are let in without, and with it they are no more than viewers.
    let viewer = server.viewers.get("/api/v1/session").header("cookie", named(viewers_port)).send().await.unwrap();
    assert_eq!(viewer.json::<Value>().await.unwrap(), json!({ "role": "viewer" }));
    let exchange = server.viewers.request(Method::POST, "/api/v1/session").json(&exchange).send().await.unwrap();
    assert_eq!(exchange.status(), 404);
    let mode = std::fs::metadata(server.dir.path().join("state/token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_are_shown_no_place_of_the_operators() {
    let server = TestServer::start().await;
    let id = server.access.start(&server.reads(50)).await;
    server.access.socket().await.end_of(&id).await;
    let place = server.target().display().to_string();
    for (door, shown) in Door::both(&server).into_iter().zip([true, false]) {
        for path in ["/api/v1/runs".to_owned(), format!("/api/v1/runs/{id}")] {
            let text = door.request(Method::GET, &path).send().await.unwrap().text().await.unwrap();
            assert_eq!(text.contains(&place), shown, "{path}: {text}");
        }
        let Frame { event, .. } = door.socket().await.frame().await;
        assert!(matches!(event, Event::Snapshot(_)));
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_speak_one_version_are_bounded_and_hear_farewell() {
    let server = TestServer::start().await;
    let mut left = Vec::new();
    for door in Door::both(&server) {
        let mut request = format!("ws://{}/ws/bench", door.authority()).into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("sec-websocket-protocol", "other.v9, brakecheck.v1".parse().unwrap());
        headers.insert("origin", format!("http://{}", door.authority()).parse().unwrap());
        headers.insert("authorization", format!("Bearer {}", server.access.token).parse().unwrap());
        let (mut socket, answer) = tokio_tungstenite::connect_async(request).await.unwrap();
        assert_eq!(answer.headers()["sec-websocket-protocol"], "brakecheck.v1");
        // Only announced: a server that has hung up is deaf to the rest, and its last word would be lost.
        let announced = [&[0x81, 0xff][..], &(1u64 << 20).to_be_bytes(), &[0; 4]].concat();
        socket.get_mut().write_all(&announced).await.unwrap();
        assert_eq!(close_code(&mut Socket(socket)).await, Some(CloseCode::Size));
        left.push(door.socket().await);
    }
    server.stop().await;
    for mut socket in left {
        assert_eq!(close_code(&mut socket).await, Some(CloseCode::Away));
    }
}

/// Reads to the end: how the server closes, if it says so.
async fn close_code(socket: &mut Socket) -> Option<CloseCode> {
    loop {
        match tokio::time::timeout(PATIENCE, socket.0.next()).await.expect("nothing comes") {
            Some(Ok(Message::Close(frame))) => return frame.map(|f| f.code),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return None,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_and_heads_have_an_end() {
    let server = TestServer::start().await;
    for door in Door::both(&server) {
        let authority = door.authority();
        let head = format!("GET / HTTP/1.1\r\nHost: {authority}\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
        assert_eq!(status(authority, &head).await, "431");
        // Refused by its length, before the body comes.
        let post = format!(
            "POST /api/v1/runs HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: 999999999\r\n\r\n",
            server.access.token
        );
        let expected = if matches!(door, Door::Operators(_)) { "413" } else { "404" };
        assert_eq!(status(authority, &post).await, expected);
    }
    let unfinished = async |authority: &str| {
        let mut stream = TcpStream::connect(authority).await.unwrap();
        stream.write_all(format!("GET / HTTP/1.1\r\nHost: {authority}\r\nX: ").as_bytes()).await.unwrap();
        let end = tokio::time::timeout(3 * PATIENCE, stream.read_to_end(&mut Vec::new())).await;
        assert!(end.is_ok(), "{authority} waits for ever");
    };
    tokio::join!(unfinished(&server.access.authority), unfinished(&server.viewers.authority));
    server.stop().await;
}

/// Status of the answer to these bytes, after which nothing more need come.
async fn status(authority: &str, bytes: &str) -> String {
    let mut stream = TcpStream::connect(authority).await.unwrap();
    // The server may answer and hang up before it has read everything.
    let _ = stream.write_all(bytes.as_bytes()).await;
    let mut answer = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut answer)).await.expect("no answer comes").unwrap();
    String::from_utf8_lossy(&answer[9..]).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_come_with_the_strictest_policy_that_they_can_live_with() {
    let server = TestServer::start().await;
    for door in Door::both(&server) {
        for path in ["/", "/kiosk", "/api/v1/runs", "/nowhere.txt"] {
            let answer = door.request(Method::GET, path).send().await.unwrap();
            let header = |name: &str| answer.headers().get(name).map_or("", |v| v.to_str().unwrap()).to_owned();
            let place = format!("{path} at {}", door.authority());
            assert_eq!(header("x-content-type-options"), "nosniff", "{place}");
            assert_eq!(header("cross-origin-resource-policy"), "same-origin", "{place}");
            assert_eq!(header("cross-origin-opener-policy"), "same-origin", "{place}");
            assert_eq!(header("referrer-policy"), "no-referrer", "{place}");
            let policy = header("content-security-policy");
            for part in ["default-src 'none'", "frame-ancestors 'none'"] {
                assert!(policy.contains(part), "{place}: {policy}");
            }
            assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{place}: {policy}");
            assert!(!policy.contains('*'), "{place}: {policy}");
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_free_text_of_the_network_names_a_setting_or_a_value() {
    let server = TestServer::start().await;
    let wishes = [
        json!({ "set": [{ "id": "../../etc/passwd", "value": "x" }] }),
        json!({ "set": [{ "id": "cpu.turbo", "value": "../../x\n1" }] }),
        json!({ "set": [{ "id": "cpu.turbo@/dev/sda", "value": "on" }] }),
    ];
    for wish in wishes {
        for (door, status) in Door::both(&server).into_iter().zip([400..=403, 404..=404]) {
            let answer = door.request(Method::POST, "/api/v1/knobs").json(&wish).send().await.unwrap().status();
            assert!(status.contains(&answer.as_u16()), "{wish} at {}: {answer}", door.authority());
        }
    }
    server.stop().await;
}
