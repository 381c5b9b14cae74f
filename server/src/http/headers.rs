//! Headers on every answer.

use axum::http::Response;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};

/// The page may run its own scripts and wasm and talk to its own server, and nothing else. The hashes are those of the
/// loader that Trunk writes into the page, worked out at build time.
const POLICY: &str = concat!(
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' ",
    env!("BRAKECHECK_SCRIPT_HASHES"),
    "; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'"
);

const FIXED: [(HeaderName, HeaderValue); 5] = [
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Adds them. What says nothing about caching is not cached.
pub(super) async fn add<B>(mut response: Response<B>) -> Response<B> {
    let headers = response.headers_mut();
    headers.extend(FIXED);
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
