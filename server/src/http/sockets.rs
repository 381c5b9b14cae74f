//! `/ws/bench` and `/ws/power`.

use super::app::App;
use super::error::{ApiError, Query, blocking};
use super::role::Viewer;
use crate::live::{self, Seat, Stream};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Request};
use axum::http::StatusCode;
use axum::response::Response;
use protocol::error::{ErrorBody, ErrorCode};
use serde::Deserialize;
use std::sync::Arc;

/// Largest message in bytes that is read at all. Far above what is understood, so that whoever sends too much is still
/// told so: a connection that is closed with bytes unread is reset, and the farewell is lost with it.
const MAX_MESSAGE: usize = 1024 * 1024;

/// Runs.
pub(super) async fn bench(Viewer { app, .. }: Viewer, request: Request) -> Result<Response, ApiError> {
    let upgrade = upgrade(request).await?;
    let seat = app.hub.admit();
    show(&app, upgrade, seat)
}

/// What a viewer of settings wants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// 0 leaves telemetry out, and with nobody else watching, it is not even sampled.
    #[serde(default = "one")]
    telemetry: u8,
}

fn one() -> u8 {
    1
}

/// Settings.
pub(super) async fn power(
    Viewer { app, .. }: Viewer,
    Query(wanted): Query<Wanted>,
    request: Request,
) -> Result<Response, ApiError> {
    let upgrade = upgrade(request).await?;
    let settings = Arc::clone(&app.settings);
    let seat = blocking(move || settings.admit(wanted.telemetry != 0)).await?;
    show(&app, upgrade, seat)
}

async fn upgrade(request: Request) -> Result<WebSocketUpgrade, ApiError> {
    let (mut parts, _) = request.into_parts();
    WebSocketUpgrade::from_request_parts(&mut parts, &()).await.map_err(|e| {
        let message = format!("This address is a WebSocket: {}.", e.body_text());
        ApiError::with_status(e.status(), ErrorBody::new(ErrorCode::Usage, message))
    })
}

fn show<S: Stream>(app: &App, upgrade: WebSocketUpgrade, seat: Option<Seat<S>>) -> Result<Response, ApiError> {
    let seat = seat.ok_or_else(|| {
        let body = ErrorBody::new(ErrorCode::Busy, "Too many viewers are connected.").hint("Close other pages of it.");
        ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, body)
    })?;
    let (stop, viewers) = (app.farewell.clone(), app.viewers.clone());
    Ok(upgrade
        .protocols(["brakecheck.v1"])
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE)
        .on_upgrade(move |socket| viewers.track_future(live::view(socket, seat, stop))))
}
