//! Places where a run could go.

use super::app::App;
use super::error::{ApiError, Query, blocking};
use crate::targets;
use axum::Json;
use axum::extract::State;
use protocol::api::TargetChoice;
use protocol::error::ErrorBody;
use serde::Deserialize;
use std::sync::Arc;

/// Directories of this machine that can be measured, one for each filesystem.
#[utoipa::path(get, path = "/api/v1/targets", responses((status = 200, body = Vec<TargetChoice>)))]
pub(super) async fn list(State(app): State<Arc<App>>) -> Result<Json<Vec<TargetChoice>>, ApiError> {
    Ok(Json(blocking(move || Ok(targets::list(app.runner.root()))).await?))
}

/// Which target to look at.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
pub(super) struct Inspect {
    /// Directory, file or block device.
    path: String,
}

/// What is known of one target.
#[utoipa::path(get, path = "/api/v1/targets/inspect", params(Inspect),
    responses((status = 200, body = TargetChoice), (status = 422, body = ErrorBody, description = "there is no such target")))]
pub(super) async fn inspect(
    State(app): State<Arc<App>>,
    Query(Inspect { path }): Query<Inspect>,
) -> Result<Json<TargetChoice>, ApiError> {
    let choice = move || {
        targets::absolute(&path)?;
        targets::choice(app.runner.root(), &path)
    };
    Ok(Json(blocking(choice).await?))
}
