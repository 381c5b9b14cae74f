//! The machine, the presets, and a sign of life.

use super::error::{ApiError, blocking};
use super::role::Viewer;
use axum::Json;
use protocol::api::SystemFacts;
use protocol::preset::{PRESETS, Preset};

/// What is known of this machine and of what the engine can do on it.
#[utoipa::path(get, path = "/api/v1/system", responses((status = 200, body = SystemFacts)))]
pub(super) async fn system(Viewer { app, .. }: Viewer) -> Result<Json<SystemFacts>, ApiError> {
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
