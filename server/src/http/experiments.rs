//! Experiments: plan, start, steer, list, show, remove.

use super::app::App;
use super::error::{ApiError, JsonBody, Path, Query, blocking};
use super::role::{Operator, Viewer};
use crate::experiment::hand::Hand;
use crate::experiment::{self, Limits, Ready};
use crate::lock;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use power::desk::Desk;
use protocol::api::RunCreated;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::event::Event;
use protocol::experiment::request::ExperimentText;
use protocol::experiment::{ExperimentFile, ExperimentSpec, ExperimentSummary, PlanPreview};
use protocol::run::RunState;
use protocol::units::Seconds;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

/// How an experiment is run.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
pub(super) struct How {
    /// Time in all to wait for a busy machine to become quiet, such as `30s`; a minute if absent.
    #[param(value_type = Option<String>)]
    patience: Option<Seconds>,
}

impl How {
    fn limits(&self) -> Limits {
        let patience = self.patience.map_or(Duration::from_mins(1), |p| Duration::from_micros(p.0.0));
        Limits { patience, time: None }
    }
}

/// What an experiment would do here, before anything is touched.
#[utoipa::path(post, path = "/api/v1/experiments/plan", request_body = ExperimentSpec, responses(
    (status = 200, body = PlanPreview, description = "`refused` says why it cannot be started now, if so"),
    (status = 400, body = ErrorBody, description = "the experiment is wrong in itself, or for this host"),
    (status = 403, body = ErrorBody, description = "it needs a setting that cannot be changed here")))]
pub(super) async fn plan(
    Operator(app): Operator,
    JsonBody(spec): JsonBody<ExperimentSpec>,
) -> Result<Json<PlanPreview>, ApiError> {
    let preview = blocking(move || {
        crate::targets::absolute(&spec.target)?;
        let state = app.settings.list()?;
        let meters = app.runner.root().is_live() && app.settings.energy().is_ok_and(|m| !m.is_empty());
        experiment::preview(&app.runner, &spec, &state, app.scheduler.refuse_second().err(), meters)
    });
    Ok(Json(preview.await?))
}

/// Reads an experiment file: its keys as JSON, and only those that stand there.
#[utoipa::path(post, path = "/api/v1/experiments/read", request_body = ExperimentText, responses(
    (status = 200, body = ExperimentSpec, description = "without the keys that the file leaves out"),
    (status = 400, body = ErrorBody, description = "what is wrong with it, and in which line")))]
pub(super) async fn read(
    _: Operator,
    JsonBody(file): JsonBody<ExperimentText>,
) -> Result<Json<serde_json::Value>, ApiError> {
    Ok(Json(experiment::file::keys(&file.toml)?))
}

/// Starts an experiment.
#[utoipa::path(post, path = "/api/v1/experiments", params(How), request_body = ExperimentSpec, responses(
    (status = 202, body = RunCreated),
    (status = 400, body = ErrorBody, description = "the experiment is wrong in itself, or for this host"),
    (status = 403, body = ErrorBody, description = "a setting that it needs cannot be changed here"),
    (status = 409, body = ErrorBody, description = "something else is on; experiments do not wait"),
    (status = 422, body = ErrorBody, description = "the target cannot or may not be measured this way")))]
pub(super) async fn create(
    Operator(app): Operator,
    Query(how): Query<How>,
    JsonBody(spec): JsonBody<ExperimentSpec>,
) -> Result<(StatusCode, Json<RunCreated>), ApiError> {
    let created = blocking(move || {
        crate::targets::absolute(&spec.target)?;
        spec.validate()?;
        let runner = &app.runner;
        let ask = |_: &_| Ok(spec.clone());
        let id = app.scheduler.begin(how.limits(), || Ready::new(runner, &take(&app), &ask))?;
        Ok(RunCreated { id, state: RunState::Running })
    });
    Ok((StatusCode::ACCEPTED, Json(created.await?)))
}

/// The settings of this server, for an experiment.
fn take(app: &App) -> impl Fn() -> Result<Hand, ErrorBody> {
    || Hand::on(Arc::clone(&app.settings) as Arc<dyn Desk>)
}

/// Goes on with the experiment that ended only because its server did.
pub(crate) fn go_on(app: &Arc<App>) {
    let limits = How { patience: None }.limits();
    if let Some(id) = app.scheduler.go_on(limits, |id| Ready::again(&app.runner, &take(app), id)) {
        tracing::info!("experiment {id} goes on where its server ended");
        let text = "The server came back; this goes on where it stood.".into();
        app.hub.publish(&Event::ExperimentNote { experiment: id, text });
    }
}

/// All experiments, newest first.
#[utoipa::path(get, path = "/api/v1/experiments", responses((status = 200, body = Vec<ExperimentSummary>)))]
pub(super) async fn list(Viewer { app, .. }: Viewer) -> Result<Json<Vec<ExperimentSummary>>, ApiError> {
    Ok(Json(blocking(move || experiment::list(&app.runner)).await?))
}

/// An experiment with its trials and what it has found so far.
#[utoipa::path(get, path = "/api/v1/experiments/{id}", params(("id" = String, Path,)),
    responses((status = 200, body = ExperimentFile), (status = 404, body = ErrorBody)))]
pub(super) async fn show(Viewer { app, .. }: Viewer, Path(id): Path<String>) -> Result<Json<ExperimentFile>, ApiError> {
    Ok(Json(blocking(move || experiment::export(&app.runner, &id)).await?))
}

/// Stops an experiment that is on; removes one that has ended.
#[utoipa::path(delete, path = "/api/v1/experiments/{id}", params(("id" = String, Path,)), responses(
    (status = 202, body = RunCreated, description = "it is on and will stop; it can be resumed"),
    (status = 204, description = "it had ended and is removed"),
    (status = 404, body = ErrorBody),
    (status = 409, body = ErrorBody, description = "another process runs it")))]
pub(super) async fn delete(Operator(app): Operator, Path(id): Path<String>) -> Result<Response, ApiError> {
    let answer = blocking(move || {
        if app.scheduler.stop(&id) {
            return Ok(Some(RunCreated { id, state: RunState::Running }));
        }
        if let Ok(Some(holder)) = lock::holder(&app.runner.state().run_lock())
            && holder.run.as_ref() == Some(&id)
        {
            let error = ErrorBody::new(ErrorCode::Busy, format!("Process {} runs it.", holder.pid));
            return Err(error.hint("Stop it there, with Ctrl-C."));
        }
        app.runner.store().delete_experiment(&id)?;
        app.hub.publish(&Event::Experiments { removed: Some(id) });
        Ok(None)
    });
    Ok(match answer.await? {
        Some(body) => (StatusCode::ACCEPTED, Json(body)).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Has an experiment pause after the trial that is on, with the settings put back meanwhile.
#[utoipa::path(post, path = "/api/v1/experiments/{id}/pause", params(("id" = String, Path,)), responses(
    (status = 204),
    (status = 404, body = ErrorBody),
    (status = 409, body = ErrorBody, description = "it is not on in this server")))]
pub(super) async fn pause(Operator(app): Operator, Path(id): Path<String>) -> Result<StatusCode, ApiError> {
    let paused = blocking(move || {
        if app.scheduler.pause(&id, true) {
            return Ok(None);
        }
        app.runner.store().experiment(&id)?;
        Ok(Some(format!("Experiment {id} is not on in this server.")))
    });
    match paused.await? {
        None => Ok(StatusCode::NO_CONTENT),
        Some(message) => Err(ApiError::with_status(StatusCode::CONFLICT, ErrorBody::new(ErrorCode::Usage, message))),
    }
}

/// Goes on with an experiment that pauses, was stopped, or was interrupted.
#[utoipa::path(post, path = "/api/v1/experiments/{id}/resume", params(("id" = String, Path,), How), responses(
    (status = 202, body = RunCreated),
    (status = 400, body = ErrorBody, description = "it has ended by itself, or was run elsewhere"),
    (status = 403, body = ErrorBody, description = "a setting that it needs cannot be changed any more"),
    (status = 404, body = ErrorBody),
    (status = 409, body = ErrorBody, description = "something else is on"),
    (status = 422, body = ErrorBody, description = "its target is not there any more")))]
pub(super) async fn resume(
    Operator(app): Operator,
    Path(id): Path<String>,
    Query(how): Query<How>,
) -> Result<(StatusCode, Json<RunCreated>), ApiError> {
    let resumed = blocking(move || {
        if !app.scheduler.pause(&id, false) {
            app.scheduler.begin(how.limits(), || Ready::again(&app.runner, &take(&app), &id))?;
        }
        Ok(RunCreated { id, state: RunState::Running })
    });
    Ok((StatusCode::ACCEPTED, Json(resumed.await?)))
}
