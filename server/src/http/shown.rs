//! Answers as viewers get them.
//!
//! An answer in JSON is masked on its way to a viewer, whatever route it comes from. Anything else is not sent to
//! viewers at all, unless its handler says, with [`Shown`], that there is nothing in it to be masked any more.

use super::error::ApiError;
use crate::mask;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use protocol::api::Role;
use protocol::error::{ErrorBody, ErrorCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Semaphore;

/// Questions of viewers that are worked on at one time: the processors are for the measurement.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// An answer with nothing in it that a viewer must not see.
pub(super) struct Shown<T>(pub(super) T);

/// The mark of such an answer.
#[derive(Debug, Clone, Copy)]
struct Mark;

impl<T: IntoResponse> IntoResponse for Shown<T> {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        response.extensions_mut().insert(Mark);
        response
    }
}

/// A value as those of `role` may see it.
pub(super) fn for_role<T: Serialize + DeserializeOwned>(role: Role, value: T) -> Result<T, ErrorBody> {
    match role {
        Role::Operator => Ok(value),
        Role::Viewer => mask::masked(&value).map_err(|e| failed(&e)),
    }
}

/// Masks what a route answers to a viewer, or keeps it back.
pub(super) async fn masked(request: Request, next: Next) -> Response {
    // Never closed.
    let turn = AT_ONCE.acquire().await.ok();
    let path = request.uri().path().to_owned();
    let (mut head, body) = next.run(request).await.into_parts();
    if head.extensions.get::<Mark>().is_some() {
        return Response::from_parts(head, body);
    }
    let json = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == HeaderValue::from_static("application/json"));
    if !json {
        let body = ErrorBody::new(ErrorCode::NotFound, format!("There is nothing at {path}."));
        return ApiError::from(body).into_response();
    }
    let answer = match to_bytes(body, usize::MAX).await {
        // The answer to a HEAD has none.
        Ok(bytes) if bytes.is_empty() => return Response::from_parts(head, Body::empty()),
        Ok(bytes) => super::error::blocking(move || over(&bytes)).await,
        Err(e) => Err(failed(&e).into()),
    };
    drop(turn);
    match answer {
        Ok(answer) => {
            head.headers.remove(CONTENT_LENGTH);
            Response::from_parts(head, Body::from(answer))
        }
        Err(e) => e.into_response(),
    }
}

fn over(bytes: &[u8]) -> Result<String, ErrorBody> {
    let value: Value = serde_json::from_slice(bytes).map_err(|e| failed(&e))?;
    mask::json(&value).map(|masked| masked.to_string()).map_err(|e| failed(&e))
}

fn failed(e: &dyn std::fmt::Display) -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, format!("The answer cannot be masked: {e}."))
}
