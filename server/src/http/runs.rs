//! Runs: start, list, show, export, end, remove.

use super::app::App;
use super::error::{ApiError, JsonBody, Path, Query, blocking};
use super::role::{Operator, Viewer};
use super::shown::{Shown, for_role};
use crate::lock;
use crate::scheduler::Cancelled;
use axum::Json;
use axum::http::StatusCode;
use axum::http::header::CONTENT_DISPOSITION;
use axum::response::{IntoResponse, Response};
use protocol::api::{RunCreated, RunDetail, RunExport, RunRequest};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::run::{RunRecord, RunState, RunSummary};
use protocol::sample::Sample;
use serde::Deserialize;

/// Starts a run, or queues it.
#[utoipa::path(post, path = "/api/v1/runs", request_body = RunRequest, responses(
    (status = 202, body = RunCreated),
    (status = 400, body = ErrorBody, description = "the request is wrong in itself"),
    (status = 409, body = ErrorBody, description = "another run is on, and `queue` was not asked for"),
    (status = 422, body = ErrorBody, description = "the target cannot or may not be measured this way")))]
pub(super) async fn create(
    Operator(app): Operator,
    JsonBody(request): JsonBody<RunRequest>,
) -> Result<(StatusCode, Json<RunCreated>), ApiError> {
    let created = blocking(move || {
        crate::targets::absolute(&request.target)?;
        let record = app.runner.prepare(crate::runner::plan(&request)?)?;
        let id = record.id.clone();
        let state = app.scheduler.submit(record, request.queue)?;
        Ok(RunCreated { id, state })
    });
    Ok((StatusCode::ACCEPTED, Json(created.await?)))
}

/// All runs, newest first.
#[utoipa::path(get, path = "/api/v1/runs", responses((status = 200, body = Vec<RunSummary>)))]
pub(super) async fn list(Viewer { app, .. }: Viewer) -> Result<Json<Vec<RunSummary>>, ApiError> {
    let runs = blocking(move || {
        let runs = app.runner.store().list()?;
        if runs.iter().all(|r| r.state.ended()) {
            return Ok(runs);
        }
        // A run that another process began may have died with it.
        app.runner.settle()?;
        Ok(app.runner.store().list()?)
    });
    Ok(Json(runs.await?))
}

/// Everything about one run except its samples.
#[utoipa::path(get, path = "/api/v1/runs/{id}", params(("id" = String, Path,)),
    responses((status = 200, body = RunDetail), (status = 404, body = ErrorBody)))]
pub(super) async fn show(Viewer { app, .. }: Viewer, Path(id): Path<String>) -> Result<Json<RunDetail>, ApiError> {
    let record = blocking(move || Ok(app.runner.store().get(&id)?)).await?;
    Ok(Json(RunDetail { cells: record.cells(), record }))
}

/// Which samples.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
pub(super) struct Which {
    /// Only those of this step.
    step: Option<u32>,
}

/// The samples of a run in order.
#[utoipa::path(get, path = "/api/v1/runs/{id}/samples", params(("id" = String, Path,), Which),
    responses((status = 200, body = Vec<Sample>), (status = 404, body = ErrorBody)))]
pub(super) async fn samples(
    Viewer { app, .. }: Viewer,
    Path(id): Path<String>,
    Query(which): Query<Which>,
) -> Result<Shown<Json<Vec<Sample>>>, ApiError> {
    let samples = blocking(move || {
        let store = app.runner.store();
        store.get(&id)?;
        Ok(store.samples(&id, which.step)?)
    });
    Ok(Shown(Json(samples.await?)))
}

/// Everything that is stored of a run, as a file to keep.
#[utoipa::path(get, path = "/api/v1/runs/{id}/export", params(("id" = String, Path,)),
    responses((status = 200, body = RunExport), (status = 404, body = ErrorBody)))]
pub(super) async fn export(Viewer { app, role, .. }: Viewer, Path(id): Path<String>) -> Result<Response, ApiError> {
    let export = blocking(move || {
        let store = app.runner.store();
        let record = for_role(role, store.get(&id)?)?;
        Ok(RunExport { cells: record.cells(), samples: store.samples(&id, None)?, record })
    });
    let export = export.await?;
    // Ids are made of digits, letters and hyphens.
    let name = format!("attachment; filename=\"brakecheck-{}.json\"", export.record.id);
    Ok(Shown(([(CONTENT_DISPOSITION, name)], Json(export))).into_response())
}

/// Stops a run that is on or waits; removes one that has ended.
#[utoipa::path(delete, path = "/api/v1/runs/{id}", params(("id" = String, Path,)), responses(
    (status = 202, body = RunCreated, description = "it is on and will stop; its record stays"),
    (status = 200, body = RunCreated, description = "it waited and no longer does; its record stays"),
    (status = 204, description = "it had ended and is removed"),
    (status = 404, body = ErrorBody),
    (status = 409, body = ErrorBody, description = "another process runs it")))]
pub(super) async fn delete(Operator(app): Operator, Path(id): Path<String>) -> Result<Response, ApiError> {
    let answer = blocking(move || match app.scheduler.cancel(&id)? {
        Cancelled::Stopping => Ok(Some((StatusCode::ACCEPTED, RunCreated { id, state: RunState::Running }))),
        Cancelled::Dequeued => Ok(Some((StatusCode::OK, RunCreated { id, state: RunState::Stopped }))),
        Cancelled::Unknown => {
            let record = app.runner.store().get(&id)?;
            elsewhere(&app, &record)?;
            app.runner.store().delete(&id)?;
            app.scheduler.removed(&id);
            Ok(None)
        }
    });
    Ok(match answer.await? {
        Some((status, body)) => (status, Json(body)).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Refuses to remove a run that is on in another process.
fn elsewhere(app: &App, record: &RunRecord) -> Result<(), ErrorBody> {
    if record.state.ended() {
        return Ok(());
    }
    match lock::holder(&app.runner.state().run_lock()) {
        Ok(Some(holder)) if holder.run.as_ref() == Some(&record.id) => {
            let message = format!("Process {} runs it.", holder.pid);
            Err(ErrorBody::new(ErrorCode::Busy, message).hint("Stop it there, with Ctrl-C."))
        }
        _ => Ok(()),
    }
}
