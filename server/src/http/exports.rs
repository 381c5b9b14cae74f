//! Experiments as documents: the report for the page, and files to keep and to apply.

use super::error::{ApiError, Path, blocking};
use super::role::Viewer;
use crate::experiment;
use crate::report;
use axum::response::{Html, IntoResponse, Response};
use protocol::error::ErrorBody;

/// The report of an experiment as a fragment of HTML, charts included.
#[utoipa::path(get, path = "/api/v1/experiments/{id}/report", params(("id" = String, Path,)), responses(
    (status = 200, body = String, content_type = "text/html"),
    (status = 404, body = ErrorBody)))]
pub(super) async fn show(Viewer { app, .. }: Viewer, Path(id): Path<String>) -> Result<Response, ApiError> {
    let fragment = blocking(move || Ok(report::fragment(&experiment::export(&app.runner, &id)?)));
    Ok(Html(fragment.await?).into_response())
}
