//! State and router of the server.

use super::error::ApiError;
use super::gate::{Gate, Refusal, wants_html};
use super::role::Known;
use super::{api, headers, page};
use crate::lan::{Given, Lan};
use crate::live::Hub;
use crate::runner::Runner;
use crate::scheduler::Scheduler;
use crate::serve::connections::Held;
use crate::settings::Settings;
use crate::token::Token;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{AUTHORIZATION, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::api::Role;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::kiosk::Kiosk;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;

/// Largest body of a request in bytes.
pub(super) const MAX_BODY: usize = 256 * 1024;
/// Time from the last header of a request to the first of its answer, the body included.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// What the routes share.
#[derive(Debug)]
pub struct App {
    /// Runs and results.
    pub runner: Arc<Runner>,
    /// The queue.
    pub scheduler: Arc<Scheduler>,
    /// The event stream.
    pub hub: Arc<Hub>,
    /// The host's settings.
    pub settings: Arc<Settings>,
    /// Who may ask.
    pub gate: Arc<Gate>,
    /// The operator's credentials.
    pub token: Arc<Token>,
    /// Cancelled when those at the operator's listener are to be sent away.
    pub farewell: CancellationToken,
    /// The listener for viewers on the network.
    pub lan: Lan,
    /// What kiosk screens show.
    pub kiosk: Kiosk,
    /// Viewers' tasks.
    pub viewers: TaskTracker,
}

/// The gate of one listener, as its routes have it.
#[derive(Debug, Clone)]
struct Door {
    gate: Arc<Gate>,
    farewell: CancellationToken,
}

/// The operator's routes behind the gate.
pub fn router(app: &Arc<App>) -> Router {
    let door = Door { gate: Arc::clone(&app.gate), farewell: app.farewell.clone() };
    let routes = api::for_operator(app).method_not_allowed_fallback(wrong_method);
    behind(door, routes, api::openapi())
}

/// The viewers' routes behind their own gate; `farewell` sends viewers away.
pub fn viewers_router(app: &Arc<App>, gate: Gate, farewell: CancellationToken) -> Router {
    let routes = api::for_viewers(app).method_not_allowed_fallback(not_found);
    behind(Door { gate: Arc::new(gate), farewell }, routes, api::viewers_openapi())
}

/// Routes with their description and the page beside them, and what every request passes in front of them.
fn behind(door: Door, routes: Router, document: utoipa::openapi::OpenApi) -> Router {
    let document = Json(document);
    // From the outside in.
    let layers = ServiceBuilder::new()
        .layer(map_response(headers::add))
        .layer(CatchPanicLayer::custom(|_| panicked()))
        .layer(from_fn_with_state(door, gate))
        .layer(from_fn(time_limit))
        .layer(DefaultBodyLimit::max(MAX_BODY));
    routes
        .route("/api/openapi.json", get(move || std::future::ready(document.clone())))
        .route("/api", any(not_found))
        .route("/api/{*rest}", any(not_found))
        .route("/ws/{*rest}", any(not_found))
        .fallback_service(page::router())
        .layer(layers)
}

/// Lets a request through the gate, or answers why not: a page for people, JSON for programs.
async fn gate(State(door): State<Door>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let refusal = match door.gate.check(&parts) {
        Ok(Some(Role::Viewer)) if !matches!(parts.method, Method::GET | Method::HEAD) => {
            return not_found(Request::from_parts(parts, body)).await.into_response();
        }
        Ok(role) => {
            parts.extensions.insert(Known::by_gate(role, door.farewell));
            return next.run(Request::from_parts(parts, body)).await;
        }
        Err(Refusal::Password) => return by_password(door, Request::from_parts(parts, body), next).await,
        Err(refusal) => refusal,
    };
    refuse(&door.gate, &parts.headers, &refusal)
}

/// Lets a viewer in who knows the password, and keeps him known. It comes as RFC 7617 has it, with any request, so that
/// no route has to take it.
async fn by_password(door: Door, mut request: Request, next: Next) -> Response {
    let from = request.extensions().get::<Held>().map(Held::address);
    let given = basic(request.headers());
    let (Some(password), Some(from), Some(given)) = (door.gate.password(), from, given) else {
        return refuse(&door.gate, request.headers(), &Refusal::Password);
    };
    match password.check(from, given).await {
        Given::Right => {
            let cookie = door.gate.cookie(password.cookie());
            request.extensions_mut().insert(Known::by_gate(Some(Role::Viewer), door.farewell));
            ([(SET_COOKIE, cookie)], next.run(request).await).into_response()
        }
        Given::Wrong => refuse(&door.gate, request.headers(), &Refusal::WrongPassword),
        Given::TooMany(wait) => refuse(&door.gate, request.headers(), &Refusal::TooMany(wait)),
    }
}

/// The password of `Authorization: Basic`, whoever the user is said to be.
fn basic(headers: &HeaderMap) -> Option<String> {
    let encoded = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Basic ")?;
    let pair = String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

fn refuse(gate: &Gate, headers: &HeaderMap, refusal: &Refusal) -> Response {
    let (status, body) = refusal.answer();
    if matches!(refusal, Refusal::Host(_) | Refusal::Origin(_)) && gate.first_time(refusal) {
        tracing::warn!("{refusal} {}", body.hint.as_deref().unwrap_or_default());
    }
    if !wants_html(headers) {
        return ApiError::with_status(status, body).into_response();
    }
    let mut response = (status, Html(refusal_page(&body))).into_response();
    // Asked of nobody else: a browser would interrupt the page with a window of its own.
    if matches!(refusal, Refusal::Password | Refusal::WrongPassword) {
        let ask = HeaderValue::from_static("Basic realm=\"Brakecheck viewers\", charset=\"UTF-8\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, ask);
    }
    response
}

/// Gives up on requests whose body does not come, or whose answer takes too long.
async fn time_limit(request: Request, next: Next) -> Response {
    tokio::time::timeout(TIME_LIMIT, next.run(request)).await.unwrap_or_else(|_| {
        let message = format!("The request was not done within {} s.", TIME_LIMIT.as_secs());
        let body = ErrorBody::new(ErrorCode::Internal, message);
        ApiError::with_status(StatusCode::REQUEST_TIMEOUT, body).into_response()
    })
}

fn refusal_page(error: &ErrorBody) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Brakecheck: refused</title>\
         <h1>{}</h1><p>{}</p></html>\n",
        escape(&error.message),
        escape(error.hint.as_deref().unwrap_or_default())
    )
}

async fn not_found(request: Request) -> ApiError {
    let body = ErrorBody::new(ErrorCode::NotFound, format!("There is nothing at {}.", request.uri().path()));
    ApiError::from(body.hint("/api/openapi.json lists what there is."))
}

async fn wrong_method(request: Request) -> ApiError {
    let message = format!("{} is not possible at {}.", request.method(), request.uri().path());
    ApiError::with_status(StatusCode::METHOD_NOT_ALLOWED, ErrorBody::new(ErrorCode::Usage, message))
}

fn panicked() -> Response {
    ApiError::from(ErrorBody::new(ErrorCode::Internal, "The request failed inside the program.")).into_response()
}
