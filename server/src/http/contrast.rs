//! Experiments side by side.

use super::error::{ApiError, Query, blocking};
use super::role::Viewer;
use super::shown::{Shown, for_role};
use crate::{experiment, report};
use axum::Json;
use axum::response::{Html, IntoResponse, Response};
use protocol::error::ErrorBody;
use protocol::experiment::SideBySide;
use serde::Deserialize;

/// Which, and how.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
pub(super) struct Which {
    /// Ids, separated by commas; the first is what the others are held against.
    ids: String,
    /// `json` for the data; else a fragment of HTML.
    #[serde(default)]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Html,
    Json,
}

/// Experiments of several drives or hosts compared: what differs, links, speeds with their share of the ceiling and CPU
/// use, effects.
#[utoipa::path(get, path = "/api/v1/experiments/compare", params(Which), responses(
    (status = 200, content((SideBySide = "application/json"), (String = "text/html"))),
    (status = 400, body = ErrorBody, description = "fewer than two ids, too many, or one twice"),
    (status = 404, body = ErrorBody)))]
pub(super) async fn show(Viewer { app, role, .. }: Viewer, Query(which): Query<Which>) -> Result<Response, ApiError> {
    let ids: Vec<String> = which.ids.split(',').map(str::trim).filter(|id| !id.is_empty()).map(Into::into).collect();
    let compared = blocking(move || for_role(role, experiment::contrast(&app.runner, &ids)?)).await?;
    Ok(match which.format {
        Format::Json => Json(compared).into_response(),
        Format::Html => Shown(Html(report::contrast(&compared).into_string())).into_response(),
    })
}
