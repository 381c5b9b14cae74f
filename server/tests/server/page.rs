//! The embedded page and the headers around it.

use crate::common::TestServer;

#[tokio::test(flavor = "multi_thread")]
async fn the_page_comes_with_a_strict_policy_and_an_etag() {
    let server = TestServer::start().await;
    let get = |path: &str| server.access.client.get(server.access.url(path));
    let page = get("/").send().await.unwrap();
    let headers = page.headers().clone();
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    assert!(header("content-type").starts_with("text/html"));
    assert_eq!(header("cache-control"), "no-cache");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("referrer-policy"), "no-referrer");
    assert_eq!(header("cross-origin-opener-policy"), "same-origin");
    assert_eq!(header("cross-origin-resource-policy"), "same-origin");
    let policy = header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
    let html = page.text().await.unwrap();
    let inline = html.matches("<script").count() - html.matches("<script src").count();
    assert_eq!(policy.matches("'sha256-").count(), inline, "each inline script has its hash");

    let again = get("/").header("if-none-match", header("etag")).send().await.unwrap();
    assert_eq!(again.status(), 304);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn views_get_the_page_and_missing_files_do_not() {
    let server = TestServer::start().await;
    let get = |path: &str| server.access.client.get(server.access.url(path)).send();
    for path in ["/results", "/results/20260101-000000-000-abcd"] {
        let view = get(path).await.unwrap();
        assert_eq!(view.status(), 200, "{path}");
        assert!(view.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
    }
    for path in ["/x.js", "/app-0123456789abcdef_bg.wasm", "/results/x.css"] {
        let missing = get(path).await.unwrap();
        assert_eq!(missing.status(), 404, "{path}");
        assert_eq!(missing.headers()["cache-control"], "no-store");
        assert!(missing.headers().contains_key("content-security-policy"));
    }
    server.stop().await;
}
