//! The machine, the presets, and a sign of life.

use super::app::App;
use super::error::{ApiError, blocking};
use axum::Json;
use axum::extract::State;
use protocol::api::SystemFacts;
use protocol::preset::{PRESETS, Preset};
use std::sync::Arc;

/// What is known of this machine and of what the engine can do on it.
#[utoipa::path(get, path = "/api/v1/system", responses((status = 200, body = SystemFacts)))]
pub(super) async fn system(State(app): State<Arc<App>>) -> Result<Json<SystemFacts>, ApiError> {
    let facts = blocking(move || {
        Ok(SystemFacts {
            version: protocol::VERSION.into(),
            host: power::host::facts(app.runner.root()),
            engine: engine::facts::engine_facts().clone(),
        })
    });
    Ok(Json(facts.await?))
}

/// All presets with their definitions.
#[utoipa::path(get, path = "/api/v1/presets", responses((status = 200, body = Vec<Preset>)))]
pub(super) async fn presets() -> Json<&'static [Preset]> {
    Json(&PRESETS)
}

/// Answers as long as the server does.
#[utoipa::path(get, path = "/healthz", security(()), responses((status = 200, body = String)))]
pub(super) async fn healthz() -> String {
    format!("ok {}\n", protocol::VERSION)
}
