//! The exchange of the token for a cookie.

use super::app::App;
use super::error::{ApiError, JsonBody};
use super::gate::Refusal;
use super::role::Viewer;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use protocol::api::{Session, SessionRequest};
use protocol::error::ErrorBody;
use std::sync::Arc;

/// Exchanges the token of the URL's fragment for a cookie that scripts of a page cannot read.
#[utoipa::path(post, path = "/api/v1/session", request_body = SessionRequest, security(()),
    responses((status = 204, description = "the cookie is set"), (status = 401, body = ErrorBody)))]
pub(super) async fn open(
    State(app): State<Arc<App>>,
    JsonBody(request): JsonBody<SessionRequest>,
) -> Result<Response, ApiError> {
    let token = &app.token;
    if !token.exchange(&request.token) {
        let (status, mut body) = Refusal::Token.answer();
        body.message = "This is not the operator's token.".into();
        return Err(ApiError::with_status(status, body));
    }
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, app.gate.cookie(token.cookie()))]).into_response())
}

/// What the caller may do.
#[utoipa::path(get, path = "/api/v1/session",
    responses((status = 200, body = Session), (status = 401, body = ErrorBody)))]
pub(super) async fn show(Viewer { role, .. }: Viewer) -> Json<Session> {
    Json(Session { role })
}
