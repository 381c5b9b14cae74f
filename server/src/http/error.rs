//! Errors of the interface: always an [`ErrorBody`] as JSON, with the status its code stands for or a narrower one.

use super::app::MAX_BODY;
use super::shown::turn;
use crate::plain::plain;
use axum::Json;
use axum::body::HttpBody;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use protocol::error::{ErrorBody, ErrorCode};
use serde::de::DeserializeOwned;

/// An error answer.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    body: ErrorBody,
}

impl ApiError {
    /// An answer with a status of its own.
    pub(super) fn with_status(status: StatusCode, body: ErrorBody) -> Self {
        Self { status, body }
    }
}

impl From<ErrorBody> for ApiError {
    fn from(body: ErrorBody) -> Self {
        let status = StatusCode::from_u16(body.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, body }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        // That many watch is no fault, and whoever asks again and again must not fill the log.
        if self.status.is_server_error() && self.status != StatusCode::SERVICE_UNAVAILABLE {
            tracing::error!("{}", self.body);
        }
        (self.status, Json(self.body)).into_response()
    }
}

/// A JSON body. What is wrong with it is said with the path of the field.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let said = |status, message| ApiError::with_status(status, ErrorBody::new(ErrorCode::Usage, message));
        let too_large =
            || said(StatusCode::PAYLOAD_TOO_LARGE, format!("The body is larger than {} KiB.", MAX_BODY / 1024));
        // By what it announces: nobody waits for what will not be read.
        if request.body().size_hint().lower() > MAX_BODY as u64 {
            return Err(too_large());
        }
        let bytes = axum::body::Bytes::from_request(request, state).await.map_err(|e| match e.status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(),
            status => said(status, format!("The body could not be read: {}.", e.body_text())),
        })?;
        // serde would also take an array for an object, field by field.
        if bytes.trim_ascii_start().first().is_some_and(|b| *b != b'{') {
            return Err(ErrorBody::new(ErrorCode::Usage, "The body must be a JSON object.").into());
        }
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        let value = serde_path_to_error::deserialize(&mut json).map_err(|e| {
            let path = e.path().to_string();
            let message =
                if path == "." || path == "?" { e.inner().to_string() } else { format!("{path}: {}", e.inner()) };
            ErrorBody::new(ErrorCode::Usage, plain(&message))
        })?;
        json.end().map_err(|e| ErrorBody::new(ErrorCode::Usage, plain(&e.to_string())))?;
        Ok(Self(value))
    }
}

/// `Query` and `Path` of axum with our error body.
#[derive(axum::extract::FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ApiError))]
pub(super) struct Query<T>(pub(super) T);

/// See [`Query`].
#[derive(axum::extract::FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ApiError))]
pub(super) struct Path<T>(pub(super) T);

impl From<QueryRejection> for ApiError {
    fn from(e: QueryRejection) -> Self {
        ErrorBody::new(ErrorCode::Usage, plain(&e.body_text())).into()
    }
}

impl From<PathRejection> for ApiError {
    fn from(e: PathRejection) -> Self {
        ErrorBody::new(ErrorCode::Usage, plain(&e.body_text())).into()
    }
}

/// Runs blocking work (files, database) off the async threads.
pub(super) async fn blocking<T, F>(work: F) -> Result<T, ApiError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, ErrorBody> + Send + 'static,
{
    let turn = turn();
    let work = move || {
        let _turn = turn;
        work()
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(ApiError::from),
        Err(_) => Err(ErrorBody::new(ErrorCode::Internal, "The request failed inside the program.").into()),
    }
}
