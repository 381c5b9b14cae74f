//! Experiments of other hosts, sent here as files.

use super::error::{ApiError, blocking};
use super::role::Operator;
use crate::experiment::import::{MOST_BYTES, import, too_long};
use axum::Json;
use axum::body::Body;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use futures_util::StreamExt;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::experiment::{ExperimentFile, Imported};
use tokio::sync::Semaphore;

/// One file at a time is held in memory; others wait.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// Keeps an experiment of another host, as `experiment show --json` or the export as JSON has written it there.
///
/// Its conclusions are worked out anew from its trials. At most 64 MiB.
#[utoipa::path(post, path = "/api/v1/experiments/import", request_body = ExperimentFile, responses(
    (status = 201, body = Imported),
    (status = 200, body = Imported, description = "it was here already"),
    (status = 400, body = ErrorBody, description = "no experiment, or not a sound one"),
    (status = 413, body = ErrorBody, description = "too long")))]
pub(super) async fn create(
    Operator(app): Operator,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Imported>), ApiError> {
    let length = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(ApiError::with_status(StatusCode::PAYLOAD_TOO_LARGE, too_long(length)));
    }
    // Never closed.
    let turn = ONE_AT_A_TIME.acquire().await.ok();
    let bytes = whole(body).await?;
    let imported = blocking(move || {
        let imported = import(&app.runner, &bytes)?;
        if !imported.known {
            app.hub.publish(&Event::Experiments { removed: None });
        }
        Ok(imported)
    });
    let imported = imported.await?;
    drop(turn);
    Ok((if imported.known { StatusCode::OK } else { StatusCode::CREATED }, Json(imported)))
}

/// The body, as long as it is not too long.
async fn whole(body: Body) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    let mut stream = body.into_data_stream();
    while let Some(part) = stream.next().await {
        let part = part.map_err(|e| {
            ApiError::from(ErrorBody::new(ErrorCode::Usage, format!("The body could not be read: {e}.")))
        })?;
        if bytes.len() + part.len() > MOST_BYTES {
            return Err(ApiError::with_status(StatusCode::PAYLOAD_TOO_LARGE, too_long(None)));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}
