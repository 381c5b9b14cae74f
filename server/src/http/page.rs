//! The embedded page: compressed once, with `ETag`s; a name with a hash in it may be kept for ever.

use axum::Router;
use axum::extract::Request;
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use memory_serve::CacheControl;
use protocol::error::{ErrorBody, ErrorCode};
use std::sync::LazyLock;
use tower::ServiceExt;

/// The page's files; compressed in release builds only, since a debug build takes a minute to do so. Made once: whoever
/// makes them takes memory that is never given back, and the viewers' listener is switched on any number of times.
static FILES: LazyLock<Router> = LazyLock::new(|| {
    memory_serve::load!()
        .index_file(Some("/index.html"))
        .html_cache_control(CacheControl::NoCache)
        .cache_control(CacheControl::NoCache)
        .into_router()
        .fallback(missing)
        .layer(from_fn(keep_hashed))
});

/// Answers with the page's files. Addresses of views within the page (`/results/ID`) all get its index.
pub(super) fn router() -> Router {
    let files = LazyLock::force(&FILES);
    Router::new().fallback(move |mut request: Request| {
        if let Some(index) = to_index(request.uri()) {
            *request.uri_mut() = index;
        }
        files.clone().oneshot(request)
    })
}

/// Marks answers to hashed names as immutable.
async fn keep_hashed(request: Request, next: Next) -> Response {
    let hashed = is_hashed(request.uri().path());
    let mut response = next.run(request).await;
    if hashed && (response.status().is_success() || response.status() == 304) {
        let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
        response.headers_mut().insert(CACHE_CONTROL, forever);
    }
    response
}

async fn missing(request: Request) -> Response {
    let body = ErrorBody::new(ErrorCode::NotFound, format!("There is nothing at {}.", request.uri().path()));
    super::error::ApiError::from(body).into_response()
}

/// Sends addresses of views to the index: those whose last part has no dot.
fn to_index(uri: &Uri) -> Option<Uri> {
    let view = uri.path().rsplit('/').next().is_some_and(|last| !last.contains('.'));
    (view && uri.path() != "/").then(|| Uri::from_static("/"))
}

/// Trunk puts a hash of 64 bits, in hex without leading zeros, into the names of what it builds:
/// `app-0123456789abcdef_bg.wasm`.
fn is_hashed(path: &str) -> bool {
    path.split(['-', '.', '_', '/'])
        .any(|part| (12..=16).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashed_names_are_told_from_others() {
        assert!(is_hashed("/app-0123456789abcdef_bg.wasm") && is_hashed("/app-0123456789abcdef.js"));
        assert!(is_hashed("/favicon-2172eb5d273443f.svg"));
        assert!(is_hashed("/snippets/app-0123456789abcdef/inline0.js"));
        assert!(!is_hashed("/index.html") && !is_hashed("/favicon.svg") && !is_hashed("/app-0123.js"));
    }

    #[test]
    fn views_get_the_index_and_files_do_not() {
        assert_eq!(to_index(&Uri::from_static("/results/1-a")).unwrap(), "/");
        for file in ["/", "/x.js", "/a/b.css"] {
            assert!(to_index(&Uri::from_static(file)).is_none(), "{file}");
        }
    }
}
