use super::*;
use axum::http::{Request, StatusCode};

const PORT: u16 = 7411;
const SECRET: &str = "5ec4e7";

fn gate() -> Gate {
    let allowed = ["bench.example".to_owned(), "proxy.example:443".to_owned()];
    Gate::new(PORT, Some("Box"), &allowed, Entry::Token(Arc::new(Token::new(SECRET)))).unwrap()
}

/// A request written as `METHOD path`, then headers; `TOKEN` and `COOKIE` stand for the right ones.
fn parts(line: &str, headers: &[(&str, &str)]) -> Parts {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        let cookie = Token::new(SECRET).cookie().to_owned();
        request = request.header(*name, value.replace("TOKEN", SECRET).replace("COOKIE", &cookie));
    }
    request.body(()).unwrap().into_parts().0
}

#[test]
fn hosts() {
    let allowed = [
        "localhost:7411",
        "LOCALHOST:7411",
        "127.0.0.1:7411",
        "[::1]:7411",
        "192.168.1.5:7411",
        "box:7411",
        "box.local:7411",
        "bench.example:7411",
        "proxy.example:443",
        "proxy.example",
        "localhost.:7411",
        "Box.Local.:7411",
        "[FE80::1%eth0]:7411",
        "[2001:db8::1]:7411",
    ];
    for host in allowed {
        assert_eq!(gate().check(&parts("GET /", &[("host", host)])), Ok(None), "{host}");
    }
    let refused = [
        "evil.example",
        "evil.example:7411",
        "localhost",
        "localhost:80",
        "localhost:74110",
        "127.0.0.1:7412",
        "0.0.0.0:7411",
        "127.0.0.1.:7411",
        "localhost..:7411",
        "[2001:db8::1%eth0]:7411",
        "127.0.0.1%lo:7411",
        "[::]:7411",
        "localhost.evil.example:7411",
        "evil-localhost:7411",
        "box.local.evil.example:7411",
        "proxy.example:7411",
        "localhost:7411:7411",
        "user@localhost:7411",
        "localhost:+7411",
        "localhost:",
        "[::1:7411",
        "127.0.0.1.evil.example:7411",
        "",
    ];
    for host in refused {
        assert_eq!(gate().check(&parts("GET /", &[("host", host)])), Err(Refusal::Host(host.into())), "{host}");
    }
}

#[test]
fn a_request_names_one_host() {
    let two = [("host", "localhost:7411"), ("host", "localhost:7411")];
    for request in
        [parts("GET /", &[]), parts("GET /", &two), parts("GET http://evil.example/", &[("host", "localhost:7411")])]
    {
        assert_eq!(gate().check(&request), Err(Refusal::NoHost));
    }
    assert_eq!(gate().check(&parts("GET http://localhost:7411/", &[("host", "localhost:7411")])), Ok(None));
}

type Case = (&'static str, Vec<(&'static str, &'static str)>, Result<Option<Role>, Refusal>);

#[test]
fn origins_and_roles() {
    use Refusal::{ContentType, NoOrigin, Token};
    const JSON: (&str, &str) = ("content-type", "application/json");
    const BEARER: (&str, &str) = ("authorization", "Bearer TOKEN");
    const COOKIE: (&str, &str) = ("cookie", "brakecheck-7411=COOKIE");
    const OWN: (&str, &str) = ("origin", "http://localhost:7411");
    let origin = |text: &str| Err(Refusal::Origin(text.into()));
    let cases: Vec<Case> = vec![
        // What needs no token.
        ("GET /", vec![], Ok(None)),
        ("GET /results/1", vec![], Ok(None)),
        ("HEAD /app.js", vec![], Ok(None)),
        ("GET /healthz", vec![], Ok(None)),
        ("POST /api/v1/session", vec![JSON], Ok(None)),
        // Everything else does.
        ("GET /api/v1/session", vec![], Err(Token)),
        ("GET /api/v1/system", vec![], Err(Token)),
        ("GET /api", vec![], Err(Token)),
        ("GET /api/openapi.json", vec![], Err(Token)),
        ("GET /metrics", vec![], Err(Token)),
        ("POST /api/v1/runs", vec![JSON], Err(Token)),
        ("DELETE /api/v1/runs/1", vec![], Err(Token)),
        ("POST /", vec![JSON], Err(Token)),
        ("PUT /healthz", vec![JSON], Err(Token)),
        // Token and cookie.
        ("GET /api/v1/system", vec![BEARER], Ok(Some(Role::Operator))),
        ("GET /api/v1/system", vec![COOKIE], Ok(Some(Role::Operator))),
        ("GET /api/v1/system", vec![("cookie", "a=b; brakecheck-7411=COOKIE; c=d")], Ok(Some(Role::Operator))),
        ("GET /api/v1/system", vec![("cookie", "brakecheck-7412=COOKIE")], Err(Token)),
        ("GET /api/v1/system", vec![("cookie", "brakecheck-7411=TOKEN")], Err(Token)),
        ("GET /api/v1/system", vec![("authorization", "Bearer COOKIE")], Err(Token)),
        ("GET /api/v1/system", vec![("authorization", "Bearer wrong")], Err(Token)),
        ("GET /api/v1/system", vec![("authorization", "Bearer ")], Err(Token)),
        ("GET /api/v1/system", vec![("authorization", "TOKEN")], Err(Token)),
        ("GET /api/v1/system", vec![BEARER, BEARER], Err(Token)),
        ("GET /api/v1/system", vec![("authorization", "Bearer wrong"), COOKIE], Err(Token)),
        ("DELETE /api/v1/runs/1", vec![COOKIE, OWN], Ok(Some(Role::Operator))),
        // Pages of other sites, whatever they hold.
        ("GET /", vec![("origin", "http://evil.example")], origin("http://evil.example")),
        ("GET /api/v1/system", vec![COOKIE, ("origin", "http://localhost:8080")], origin("http://localhost:8080")),
        ("POST /api/v1/runs", vec![JSON, COOKIE, ("origin", "http://127.0.0.1:7411")], origin("http://127.0.0.1:7411")),
        (
            "POST /api/v1/runs",
            vec![JSON, COOKIE, ("origin", "https://localhost:7411")],
            origin("https://localhost:7411"),
        ),
        ("POST /api/v1/runs", vec![JSON, COOKIE, ("origin", "null")], origin("null")),
        ("POST /api/v1/runs", vec![JSON, COOKIE, OWN, OWN], origin("http://localhost:7411, http://localhost:7411")),
        ("POST /api/v1/runs", vec![JSON, COOKIE, OWN], Ok(Some(Role::Operator))),
        ("POST /api/v1/session", vec![JSON, ("origin", "http://evil.example")], origin("http://evil.example")),
        // WebSockets.
        ("GET /ws/bench", vec![COOKIE, OWN], Ok(Some(Role::Operator))),
        ("GET /ws/bench", vec![OWN], Err(Token)),
        ("GET /ws/bench", vec![COOKIE], Err(NoOrigin)),
        ("GET /ws/bench", vec![BEARER], Ok(Some(Role::Operator))),
        ("GET /ws/bench", vec![COOKIE, ("origin", "http://evil.example")], origin("http://evil.example")),
        // What an HTML form can send.
        ("POST /api/v1/runs", vec![COOKIE, OWN], Err(ContentType)),
        ("POST /api/v1/runs", vec![COOKIE, OWN, ("content-type", "text/plain")], Err(ContentType)),
        ("POST /api/v1/runs", vec![COOKIE, OWN, ("content-type", "text/plain; application/json")], Err(ContentType)),
        ("POST /api/v1/session", vec![("content-type", "text/plain")], Err(ContentType)),
        (
            "POST /api/v1/runs",
            vec![COOKIE, OWN, ("content-type", "Application/JSON; charset=utf-8")],
            Ok(Some(Role::Operator)),
        ),
    ];
    for (line, mut headers, expected) in cases {
        headers.push(("host", "localhost:7411"));
        assert_eq!(gate().check(&parts(line, &headers)), expected, "{line} {headers:?}");
    }
}

#[test]
fn a_name_in_front_of_a_proxy_may_speak_https() {
    let check = |host, origin| gate().check(&parts("GET /", &[("host", host), ("origin", origin)]));
    assert_eq!(check("proxy.example:443", "https://proxy.example:443"), Ok(None));
    assert_eq!(check("proxy.example", "https://proxy.example"), Ok(None));
    assert!(check("localhost:7411", "https://localhost:7411").is_err());
}

#[test]
fn names_that_are_none_are_usage_errors() {
    for text in ["http://bench.example", "bench/", "", "a:b", "a b"] {
        let error = Gate::new(PORT, None, &[text.to_owned()], Entry::Open).unwrap_err();
        assert_eq!(error.code, ErrorCode::Usage, "{text}");
    }
}

#[test]
fn a_refusal_names_the_host_and_the_option_and_is_logged_once() {
    let gate = gate();
    let refusal = gate.check(&parts("GET /", &[("host", "nas.home:7411")])).unwrap_err();
    let (status, body) = refusal.answer();
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(body.message.contains("nas.home:7411"), "{body}");
    assert!(body.hint.unwrap().contains("--allow-host nas.home"));
    assert!(gate.first_time(&refusal) && !gate.first_time(&refusal));
}

#[test]
fn viewers_pass_with_nothing_but_from_the_right_host_and_page() {
    let gate = Gate::new(PORT, Some("Box"), &[], Entry::Open).unwrap();
    let check = |line, headers: &[(&str, &str)]| gate.check(&parts(line, headers));
    let viewer = Ok(Some(Role::Viewer));
    let host = ("host", "192.168.1.5:7411");
    assert_eq!(check("GET /api/v1/runs", &[host]), viewer);
    assert_eq!(check("GET /api/v1/runs", &[host, ("authorization", "Bearer TOKEN")]), viewer, "nobody is more");
    assert_eq!(check("GET /ws/bench", &[host, ("origin", "http://192.168.1.5:7411")]), viewer);
    assert_eq!(check("GET /ws/bench", &[host]), Err(Refusal::NoViewerOrigin));
    assert_eq!(check("GET /ws/bench", &[host, ("authorization", "Bearer TOKEN")]), Err(Refusal::NoViewerOrigin));
    let foreign = [host, ("origin", "http://evil.example")];
    assert_eq!(check("GET /ws/bench", &foreign), Err(Refusal::Origin("http://evil.example".into())));
    let rebound = [("host", "evil.example:7411"), ("origin", "http://evil.example:7411")];
    assert_eq!(check("GET /ws/bench", &rebound), Err(Refusal::Host("evil.example:7411".into())));
}

#[test]
fn over_tls_the_page_is_https_and_the_cookie_secure() {
    let gate = Gate::new(443, Some("box"), &[], Entry::Open).unwrap().over_tls();
    let check = |host, origin| gate.check(&parts("GET /ws/bench", &[("host", host), ("origin", origin)]));
    assert_eq!(check("box", "https://box"), Ok(Some(Role::Viewer)));
    assert_eq!(check("box:443", "https://box:443"), Ok(Some(Role::Viewer)));
    assert_eq!(check("box", "http://box"), Err(Refusal::Origin("http://box".into())));
    assert_eq!(check("box:80", "https://box:80"), Err(Refusal::Host("box:80".into())));
    assert!(gate.cookie("x").ends_with("; Secure"));
}
