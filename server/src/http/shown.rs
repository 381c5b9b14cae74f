//! Answers as viewers get them.
//!
//! An answer in JSON is masked on its way to a viewer, whatever route it comes from. Anything else is not sent to
//! viewers at all, unless its handler says, with [`Shown`], that there is nothing in it to be masked any more.

use super::error::ApiError;
use super::room::Room;
use crate::mask;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use protocol::api::Role;
use protocol::error::{ErrorBody, ErrorCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Questions of viewers that are worked on at one time: the processors are for the measurement.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

tokio::task_local! {
    static TURN: Turn;
}

/// A viewer's turn, which ends with the last who holds it.
type Turn = Arc<Option<SemaphorePermit<'static>>>;

/// The turn of the viewer whose question is worked on, if it is one's. Work that goes on when whoever asked hangs up is
/// to hold it, so that there is no room for his next question meanwhile.
pub(super) fn turn() -> Option<Turn> {
    TURN.try_with(Arc::clone).ok()
}

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
pub(super) async fn masked(State(room): State<Room>, request: Request, next: Next) -> Response {
    // Never closed.
    let turn = Arc::new(AT_ONCE.acquire().await.ok());
    TURN.scope(turn, answer(&room, request, next)).await
}

async fn answer(room: &Room, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let (mut head, body) = next.run(request).await.into_parts();
    let shown = head.extensions.get::<Mark>().is_some();
    let json = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == HeaderValue::from_static("application/json"));
    if !shown && !json {
        let body = ErrorBody::new(ErrorCode::NotFound, format!("There is nothing at {path}."));
        return ApiError::from(body).into_response();
    }
    let answer = match to_bytes(body, usize::MAX).await {
        // The answer to a HEAD has none.
        Ok(bytes) if bytes.is_empty() => return Response::from_parts(head, Body::empty()),
        Ok(bytes) if shown => Ok(bytes),
        Ok(bytes) => {
            head.headers.remove(CONTENT_LENGTH);
            super::error::blocking(move || over(&bytes)).await
        }
        Err(e) => Err(failed(&e).into()),
    };
    let kept = answer.and_then(|bytes| room.keep(bytes).ok_or_else(no_room));
    kept.map_or_else(IntoResponse::into_response, |bytes| Response::from_parts(head, Body::from(bytes)))
}

fn no_room() -> ApiError {
    let body = ErrorBody::new(ErrorCode::Busy, "Too much that viewers asked for waits to be taken.");
    ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, body.hint("Try again in a few seconds."))
}

fn over(bytes: &[u8]) -> Result<Bytes, ErrorBody> {
    let value: Value = serde_json::from_slice(bytes).map_err(|e| failed(&e))?;
    mask::json(&value).map(|masked| masked.to_string().into()).map_err(|e| failed(&e))
}

fn failed(e: &dyn std::fmt::Display) -> ErrorBody {
    ErrorBody::new(ErrorCode::Internal, format!("The answer cannot be masked: {e}."))
}

#[cfg(test)]
mod tests {
    use super::super::error::blocking;
    use super::*;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use axum::{Json, Router};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, mpsc};
    use std::time::Duration;
    use tower::ServiceExt;

    #[tokio::test]
    async fn whoever_hangs_up_has_no_more_worked_on_at_once_than_who_waits() {
        let (go_on, wait) = mpsc::channel::<()>();
        let (begun, wait) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(wait)));
        let work = (Arc::clone(&begun), wait);
        let route = get(async move || {
            let (begun, wait) = work.clone();
            let work = move || {
                begun.fetch_add(1, Ordering::Relaxed);
                // Until nobody is left who could say so.
                let _ = wait.lock().unwrap().recv();
                Ok(())
            };
            blocking(work).await.map(|()| Json("done"))
        });
        let routes = Router::new().route("/", route).layer(from_fn_with_state(Room::new(), masked));
        let ask = || routes.clone().oneshot(Request::new(Body::empty()));
        for _ in 0..6 {
            assert!(tokio::time::timeout(Duration::from_millis(50), ask()).await.is_err());
        }
        assert_eq!(begun.load(Ordering::Relaxed), 2);
        drop(go_on);
        assert_eq!(ask().await.unwrap().status(), 200);
    }
}
