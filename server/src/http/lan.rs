//! The listener for viewers on the network, as the operator steers it.

use super::error::{ApiError, JsonBody};
use super::role::Operator;
use axum::Json;
use protocol::api::{LanRequest, LanStatus};
use protocol::error::ErrorBody;

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
