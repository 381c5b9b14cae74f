//! The listener for viewers on the network, as the operator steers it.

use super::error::{ApiError, JsonBody};
use super::role::Operator;
use axum::Json;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use protocol::api::{LanRequest, LanStatus};
use protocol::error::{ErrorBody, ErrorCode};
use qrcode::QrCode;
use qrcode::render::svg;

/// Whether viewers on the network are let in, where, and how many watch.
#[utoipa::path(get, path = "/api/v1/lan", responses((status = 200, body = LanStatus)))]
pub(super) async fn show(Operator(app): Operator) -> Json<LanStatus> {
    Json(app.lan.status(&app))
}

/// Switches the listener for viewers on or off. Off, it sends its viewers away.
#[utoipa::path(post, path = "/api/v1/lan", request_body = LanRequest, responses(
    (status = 200, body = LanStatus),
    (status = 400, body = ErrorBody, description = "no address was named at the start, or it cannot be used now")))]
pub(super) async fn switch(
    Operator(app): Operator,
    JsonBody(request): JsonBody<LanRequest>,
) -> Result<Json<LanStatus>, ApiError> {
    if request.on {
        app.lan.open(&app)?;
    } else {
        app.lan.close().await;
    }
    Ok(Json(app.lan.status(&app)))
}

/// The viewers' address as a code to be photographed.
#[utoipa::path(get, path = "/api/v1/lan/qr.svg", responses(
    (status = 200, body = String, content_type = "image/svg+xml"),
    (status = 404, body = ErrorBody, description = "it is off")))]
pub(super) async fn qr(Operator(app): Operator) -> Result<impl IntoResponse, ApiError> {
    let off = || ErrorBody::new(ErrorCode::NotFound, "The listener for viewers is off, so that there is no address.");
    let url = app.lan.status(&app).url.ok_or_else(off)?;
    let failed = |e| ErrorBody::new(ErrorCode::Internal, format!("The address {url} does not fit into a code: {e}."));
    let code = QrCode::new(&url).map_err(failed)?;
    let drawn = code.render::<svg::Color>().min_dimensions(240, 240).build();
    Ok(([(CONTENT_TYPE, "image/svg+xml")], drawn))
}
