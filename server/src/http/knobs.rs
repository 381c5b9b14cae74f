//! Settings of the host: list, set, confirm, put back.

use super::app::App;
use super::error::{ApiError, JsonBody, blocking};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol::error::ErrorBody;
use protocol::knob::RestoreReport;
use protocol::power::{PowerState, RestoreRequest, SetAnswer, SetRequest};
use std::sync::Arc;

/// Every knob of the host as it is now.
#[utoipa::path(get, path = "/api/v1/knobs", responses((status = 200, body = PowerState)))]
pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Json<PowerState>, ApiError> {
    Ok(Json(blocking(move || app.settings.list()).await?))
}

/// Sets knobs, each by itself: the answer says what became of each.
#[utoipa::path(post, path = "/api/v1/knobs", request_body = SetRequest, responses(
    (status = 200, body = SetAnswer, description = "what became of each; some may have failed"),
    (status = 400, body = ErrorBody, description = "an unknown knob or value; nothing was set"),
    (status = 403, body = ErrorBody, description = "nothing can be set here")))]
pub(super) async fn set(
    State(app): State<Arc<App>>,
    JsonBody(request): JsonBody<SetRequest>,
) -> Result<Json<SetAnswer>, ApiError> {
    Ok(Json(blocking(move || app.settings.set(&request)).await?))
}

/// Keeps risky settings, which would fall back by themselves otherwise.
#[utoipa::path(post, path = "/api/v1/knobs/confirm", responses((status = 204)))]
pub(super) async fn confirm(State(app): State<Arc<App>>) -> Result<StatusCode, ApiError> {
    blocking(move || app.settings.confirm()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Puts everything back that Brakecheck has changed.
#[utoipa::path(post, path = "/api/v1/restore", request_body = RestoreRequest, responses(
    (status = 200, body = RestoreReport, description = "what became of each; some may have failed"),
    (status = 403, body = ErrorBody, description = "nothing can be set here")))]
pub(super) async fn restore(
    State(app): State<Arc<App>>,
    JsonBody(request): JsonBody<RestoreRequest>,
) -> Result<Json<RestoreReport>, ApiError> {
    Ok(Json(blocking(move || app.settings.restore(request)).await?))
}
