//! `/ws/bench` and `/ws/power`.

use super::app::App;
use super::error::{ApiError, Query, blocking};
use super::role::Viewer;
use crate::live::{self, Seat, Stream};
use crate::serve::connections::Held;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Request};
use axum::http::StatusCode;
use axum::response::Response;
use protocol::api::SWITCHED_OFF;
use protocol::error::{ErrorBody, ErrorCode};
use serde::Deserialize;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Largest message in bytes that is read at all, and so the most that is held for a connection on which it does not end.
/// Far above what is understood, so that whoever sends too much is still told so: a connection that is closed with bytes
/// unread is reset, and the farewell is lost with it.
const MAX_MESSAGE: usize = 128 * 1024;

/// What a viewer of runs wants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Followed {
    /// 1 asks for a frame at least twice a second, so that silence means that the server is gone.
    #[serde(default)]
    pulse: u8,
}

/// Runs.
pub(super) async fn bench(
    Viewer { app, role, farewell }: Viewer,
    Query(followed): Query<Followed>,
    request: Request,
) -> Result<Response, ApiError> {
    let ends = (farewell, held(&request));
    let upgrade = upgrade(request).await?;
    let seat = app.hub.admit(role);
    show(&app, upgrade, seat, followed.pulse != 0, ends)
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
    Viewer { app, role, farewell }: Viewer,
    Query(wanted): Query<Wanted>,
    request: Request,
) -> Result<Response, ApiError> {
    let ends = (farewell, held(&request));
    let upgrade = upgrade(request).await?;
    let settings = Arc::clone(&app.settings);
    let seat = blocking(move || settings.admit(wanted.telemetry != 0, role)).await?;
    show(&app, upgrade, seat, false, ends)
}

async fn upgrade(request: Request) -> Result<WebSocketUpgrade, ApiError> {
    let (mut parts, _) = request.into_parts();
    WebSocketUpgrade::from_request_parts(&mut parts, &()).await.map_err(|e| {
        let message = format!("This address is a WebSocket: {}.", e.body_text());
        ApiError::with_status(e.status(), ErrorBody::new(ErrorCode::Usage, message))
    })
}

fn show<S: Stream>(
    app: &App,
    upgrade: WebSocketUpgrade,
    seat: Option<Seat<S>>,
    pulse: bool,
    (stop, held): Ends,
) -> Result<Response, ApiError> {
    let seat = seat.ok_or_else(|| {
        let body = ErrorBody::new(ErrorCode::Busy, "Too many viewers are connected.").hint("Close other pages of it.");
        ApiError::with_status(StatusCode::SERVICE_UNAVAILABLE, body)
    })?;
    let (viewers, server) = (app.viewers.clone(), app.farewell.clone());
    let why = move || if server.is_cancelled() { "the server is stopping" } else { SWITCHED_OFF };
    Ok(upgrade.protocols(["brakecheck.v1"]).max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE).on_upgrade(
        move |socket| {
            let view = live::view(socket, seat, pulse, stop, why);
            viewers.track_future(async move {
                view.await;
                drop(held);
            })
        },
    ))
}

/// What ends a viewer's socket, and what its end gives back.
type Ends = (CancellationToken, Option<Held>);

/// The place of the connection that a request came on.
fn held(request: &Request) -> Option<Held> {
    request.extensions().get::<Held>().cloned()
}
