//! The routes of the API and their description, by who may ask for them.

use super::app::App;
use super::role::{Operating, Showing};
use super::room::Room;
use super::{
    contrast, experiments, exports, import, kiosk, knobs, lan, metrics, runs, session, shown, sockets, system, targets,
};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(
    info(title = "Brakecheck", description = "Benchmarks storage on this host. `/ws/bench` sends the events of a run \
        as text frames: `seq` beside the fields of `Event`; a `snapshot` first, and again after frames were dropped. \
        `?pulse=1` asks for a frame at least twice a second, of type `pulse` where nothing happens. \
        `/ws/power` sends `PowerEvent` in the same way; `?telemetry=0` leaves out the telemetry."),
    components(schemas(
        protocol::event::Event, protocol::event::Snapshot, protocol::power::PowerEvent, protocol::error::ErrorBody
    )),
    modifiers(&Bearer),
    security(("token" = []))
)]
struct Document;

/// The token as scripts send it.
struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_default().add_security_scheme("token", scheme);
    }
}

/// What needs no role.
fn anybodys() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(system::healthz)).routes(routes!(session::open))
}

/// What changes something, and what shows more of the host than viewers are to see.
fn operators() -> OpenApiRouter<Operating> {
    OpenApiRouter::new()
        .routes(routes!(targets::list))
        .routes(routes!(targets::inspect))
        .routes(routes!(runs::create))
        .routes(routes!(runs::delete))
        .routes(routes!(experiments::plan))
        .routes(routes!(experiments::read))
        .routes(routes!(experiments::create))
        .routes(routes!(import::create))
        .routes(routes!(experiments::delete))
        .routes(routes!(experiments::pause))
        .routes(routes!(experiments::resume))
        .routes(routes!(knobs::set))
        .routes(routes!(knobs::confirm))
        .routes(routes!(knobs::restore))
        .routes(routes!(lan::show))
        .routes(routes!(lan::switch))
        .routes(routes!(lan::qr))
        .routes(routes!(metrics::metrics))
}

/// What viewers see too: nothing but GET.
fn viewers() -> OpenApiRouter<Showing> {
    OpenApiRouter::new()
        .routes(routes!(session::show))
        .routes(routes!(system::system))
        .routes(routes!(system::presets))
        .routes(routes!(kiosk::show))
        .routes(routes!(kiosk::plan))
        .routes(routes!(kiosk::panel))
        .routes(routes!(runs::list))
        .routes(routes!(runs::show))
        .routes(routes!(runs::samples))
        .routes(routes!(runs::export))
        .routes(routes!(experiments::list))
        .routes(routes!(experiments::show))
        .routes(routes!(contrast::show))
        .routes(routes!(exports::show))
        .routes(routes!(exports::export))
        .routes(routes!(knobs::list))
}

/// The description of the API, made from the code.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let parts = [anybodys().into_openapi(), operators().into_openapi(), viewers().into_openapi()];
    parts.into_iter().fold(Document::openapi(), utoipa::openapi::OpenApi::merge_from)
}

/// The part of the API that viewers are offered.
pub fn viewers_openapi() -> utoipa::openapi::OpenApi {
    Document::openapi().merge_from(viewers().into_openapi())
}

/// The operator's routes, everybody's included.
pub(super) fn for_operator(app: &Arc<App>) -> Router {
    let operators = Router::from(operators()).with_state(Operating::new(app));
    Router::from(anybodys()).with_state(Arc::clone(app)).merge(operators).merge(showing(app, Router::from(viewers())))
}

/// The viewers' routes: nothing that changes anything, and every answer masked.
pub(super) fn for_viewers(app: &Arc<App>) -> Router {
    showing(app, Router::from(viewers()).layer(from_fn_with_state(Room::new(), shown::masked)))
        .route("/healthz", get(system::healthz))
}

/// What viewers have, too: the API's reading part and both streams.
fn showing(app: &Arc<App>, reading: Router<Showing>) -> Router {
    reading
        .route("/ws/bench", get(sockets::bench))
        .route("/ws/power", get(sockets::power))
        .with_state(Showing::new(app))
}
