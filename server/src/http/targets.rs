//! Places where a run could go.

use super::error::{ApiError, Query, blocking};
use super::role::Operator;
use crate::targets;
use axum::Json;
use protocol::api::TargetChoice;
use protocol::error::ErrorBody;
use serde::Deserialize;

/// Directories of this machine that can be measured, one for each filesystem.
#[utoipa::path(get, path = "/api/v1/targets", responses((status = 200, body = Vec<TargetChoice>)))]
pub(super) async fn list(Operator(app): Operator) -> Result<Json<Vec<TargetChoice>>, ApiError> {
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
    Operator(app): Operator,
    Query(Inspect { path }): Query<Inspect>,
) -> Result<Json<TargetChoice>, ApiError> {
    let choice = move || {
        targets::absolute(&path)?;
        targets::choice(app.runner.root(), &path)
    };
    Ok(Json(blocking(choice).await?))
}
