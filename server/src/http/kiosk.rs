//! Kiosk screens.

use super::error::{ApiError, Path, Query, blocking};
use super::role::Viewer;
use super::shown::Shown;
use crate::kiosk::{Plan, screen};
use axum::Json;
use axum::response::{Html, IntoResponse};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::kiosk::{Kiosk, Panel};
use std::sync::Arc;

/// What kiosk screens show, in which order and how long.
#[utoipa::path(get, path = "/api/v1/kiosk", responses((status = 200, body = Kiosk)))]
pub(super) async fn show(Viewer { app, .. }: Viewer) -> Json<Kiosk> {
    Json(app.kiosk.clone())
}

/// What the screen with the address `/kiosk?...` of the same keys shows: `show`, `dwell`, `dim`, `shift`, `stay`.
#[utoipa::path(get, path = "/api/v1/kiosk/plan", responses((status = 200, body = Plan)))]
pub(super) async fn plan(Viewer { app, .. }: Viewer, Query(asked): Query<Vec<(String, String)>>) -> Json<Plan> {
    Json(Plan::new(&app.kiosk, &asked))
}

/// One panel of a kiosk as a fragment of HTML; empty where there is nothing to show.
#[utoipa::path(get, path = "/api/v1/kiosk/panels/{panel}", params(("panel" = String, Path,)), responses(
    (status = 200, content((String = "text/html"))), (status = 404, body = ErrorBody)))]
pub(super) async fn panel(
    Viewer { app, role, .. }: Viewer,
    Path(panel): Path<String>,
) -> Result<impl IntoResponse, ApiError> {
    let panel: Panel = panel
        .parse()
        .map_err(|why: String| ErrorBody::new(ErrorCode::NotFound, format!("There is nothing here: {why}.")))?;
    let (runner, settings) = (Arc::clone(&app.runner), Arc::clone(&app.settings));
    let html = blocking(move || screen(&runner, &settings, role, panel)).await?;
    Ok(Shown(Html(html)))
}
