//! Experiments as documents: the report for the page, and files to keep and to apply.

use super::error::{ApiError, Path, Query, blocking};
use super::role::Viewer;
use super::shown::{Shown, for_role};
use crate::experiment;
use crate::report::{self, Format};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::Use;
use serde::Deserialize;

/// The report of an experiment as a fragment of HTML, charts included.
#[utoipa::path(get, path = "/api/v1/experiments/{id}/report", params(("id" = String, Path,)), responses(
    (status = 200, body = String, content_type = "text/html"),
    (status = 404, body = ErrorBody)))]
pub(super) async fn show(Viewer { app, role, .. }: Viewer, Path(id): Path<String>) -> Result<Response, ApiError> {
    let fragment = blocking(move || Ok(report::fragment(&for_role(role, experiment::export(&app.runner, &id)?)?)));
    Ok(Shown(Html(fragment.await?)).into_response())
}

/// Which file.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// `html`, `json`, `tuned`, `tlp`, `systemd`, `tmpfiles`, `cmdline`, or `script`.
    format: String,
    /// Whose recommendation is taken, where the file holds any; `latency` if absent.
    #[serde(rename = "use")]
    #[param(rename = "use")]
    purpose: Option<Use>,
}

/// An experiment as a file to keep, or its recommendation as a file to apply.
#[utoipa::path(get, path = "/api/v1/experiments/{id}/export", params(("id" = String, Path,), Which), responses(
    (status = 200, body = String, content_type = "text/plain"),
    (status = 400, body = ErrorBody, description = "there is no such form"),
    (status = 404, body = ErrorBody)))]
pub(super) async fn export(
    Viewer { app, role, .. }: Viewer,
    Path(id): Path<String>,
    Query(which): Query<Which>,
) -> Result<Response, ApiError> {
    let text = blocking(move || {
        let format: Format = which.format.parse().map_err(|e| ErrorBody::new(ErrorCode::Usage, e))?;
        let file = for_role(role, experiment::export(&app.runner, &id)?)?;
        let text = report::export(&file, format, which.purpose.unwrap_or(Use::Latency))?;
        // File names are made of letters, digits, hyphens and dots.
        let name = format!("attachment; filename=\"{}\"", format.file_name(&file.experiment.id));
        Ok(([(CONTENT_TYPE, format.media_type().to_owned()), (CONTENT_DISPOSITION, name)], text))
    });
    Ok(Shown(text.await?).into_response())
}
