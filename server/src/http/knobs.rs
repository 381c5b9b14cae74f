//! Settings of the host: list, set, confirm, put back.

use super::error::{ApiError, JsonBody, blocking};
use super::role::{Operator, Viewer};
use axum::Json;
use axum::http::StatusCode;
use protocol::api::Role;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::RestoreReport;
use protocol::power::{PowerState, RestoreRequest, SetAnswer, SetRequest};
use std::time::Duration;

/// Time that an experiment gets to stop and to put its own settings back; then they are put back all the same.
const PATIENCE: Duration = Duration::from_secs(20);

/// Every knob of the host as it is now.
#[utoipa::path(get, path = "/api/v1/knobs", responses((status = 200, body = PowerState)))]
pub(super) async fn list(viewer: Viewer) -> Result<Json<PowerState>, ApiError> {
    let Viewer { app, role, .. } = viewer;
    let state = move || match role {
        Role::Operator => app.settings.list(),
        Role::Viewer => app.settings.recent(),
    };
    Ok(Json(blocking(state).await?))
}

/// Sets knobs, each by itself: the answer says what became of each.
#[utoipa::path(post, path = "/api/v1/knobs", request_body = SetRequest, responses(
    (status = 200, body = SetAnswer, description = "what became of each; some may have failed"),
    (status = 400, body = ErrorBody, description = "an unknown knob or value; nothing was set"),
    (status = 403, body = ErrorBody, description = "nothing can be set here"),
    (status = 409, body = ErrorBody, description = "an experiment changes settings now")))]
pub(super) async fn set(
    Operator(app): Operator,
    JsonBody(request): JsonBody<SetRequest>,
) -> Result<Json<SetAnswer>, ApiError> {
    let answer = blocking(move || {
        if let Some(what) = app.scheduler.changes_settings() {
            let error = ErrorBody::new(ErrorCode::Busy, format!("An experiment changes settings now: {what}."));
            return Err(error.hint("Stop or pause it first."));
        }
        app.settings.set(&request)
    });
    Ok(Json(answer.await?))
}

/// Keeps risky settings, which would fall back by themselves otherwise.
#[utoipa::path(post, path = "/api/v1/knobs/confirm", responses((status = 204)))]
pub(super) async fn confirm(Operator(app): Operator) -> Result<StatusCode, ApiError> {
    blocking(move || app.settings.confirm()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Puts everything back that Brakecheck has changed. An experiment that is on is stopped first; it can be resumed.
#[utoipa::path(post, path = "/api/v1/restore", request_body = RestoreRequest, responses(
    (status = 200, body = RestoreReport, description = "what became of each; some may have failed"),
    (status = 403, body = ErrorBody, description = "nothing can be set here")))]
pub(super) async fn restore(
    Operator(app): Operator,
    JsonBody(request): JsonBody<RestoreRequest>,
) -> Result<Json<RestoreReport>, ApiError> {
    let report = blocking(move || {
        app.scheduler.stop_experiment(PATIENCE);
        app.settings.restore(request)
    });
    Ok(Json(report.await?))
}
