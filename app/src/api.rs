//! The HTTP interface, from the browser.

use crate::read::{self, Read};
use crate::session::Access;
use protocol::api::{RunCreated, RunRequest, SessionRequest, SystemFacts, TargetChoice};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::RestoreReport;
use protocol::power::{RestoreRequest, SetAnswer, SetRequest};
use protocol::run::{RunRecord, RunSummary};
use protocol::sample::Sample;
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, RequestInit, Response};

/// The machine and the engine.
pub(crate) async fn system() -> Result<SystemFacts, ErrorBody> {
    get("/api/v1/system").await
}
/// Places a run could go.
pub(crate) async fn targets() -> Result<Vec<TargetChoice>, ErrorBody> {
    get("/api/v1/targets").await
}
/// One place, looked at.
pub(crate) async fn inspect(path: &str) -> Result<TargetChoice, ErrorBody> {
    get(&format!("/api/v1/targets/inspect?path={}", encoded(path))).await
}
/// All runs.
pub(crate) async fn runs() -> Result<Vec<RunSummary>, ErrorBody> {
    get("/api/v1/runs").await
}
/// One run.
pub(crate) async fn run(id: &str) -> Result<RunRecord, ErrorBody> {
    get(&format!("/api/v1/runs/{}", encoded(id))).await
}
/// Its samples.
pub(crate) async fn samples(id: &str) -> Result<Vec<Sample>, ErrorBody> {
    get(&format!("/api/v1/runs/{}/samples", encoded(id))).await
}
/// Starts a run.
pub(crate) async fn start(request: &RunRequest) -> Result<RunCreated, ErrorBody> {
    read(&send("POST", "/api/v1/runs", to_json(request)?).await?)
}
/// Stops one of the `runs` or `experiments` that is on, removes one that ended.
pub(crate) async fn delete(kind: &str, id: &str) -> Result<(), ErrorBody> {
    send("DELETE", &format!("/api/v1/{kind}/{}", encoded(id)), None).await.map(drop)
}
/// All experiments.
pub(crate) async fn experiments() -> Result<Value, ErrorBody> {
    get("/api/v1/experiments").await
}
/// What an experiment would do here.
pub(crate) async fn plan(spec: &Value) -> Result<Value, ErrorBody> {
    read(&send("POST", "/api/v1/experiments/plan", Some(spec.to_string().into())).await?)
}
/// What an experiment file says.
pub(crate) async fn read_file(file: &web_sys::File) -> Result<Value, ErrorBody> {
    let text = JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string()).unwrap_or_default();
    let body = serde_json::json!({ "toml": text }).to_string();
    read(&send("POST", "/api/v1/experiments/read", Some(body.into())).await?)
}
/// Starts an experiment.
pub(crate) async fn begin(spec: &Value) -> Result<RunCreated, ErrorBody> {
    read(&send("POST", "/api/v1/experiments", Some(spec.to_string().into())).await?)
}
/// Stores an experiment of another host, from its file. Returns its id here, and what there is to know.
pub(crate) async fn import(file: JsValue) -> Result<(String, Vec<String>), ErrorBody> {
    let answer: Value = read(&send("POST", "/api/v1/experiments/import", Some(file)).await?)?;
    let text = |v: &Value| v.as_str().map(str::to_owned);
    let notes = answer.get("notes").and_then(Value::as_array).into_iter().flatten().filter_map(text);
    Ok((answer.get("id").and_then(text).unwrap_or_default(), notes.collect()))
}
/// Does something to an experiment: `pause`, `resume`, or `stop`.
pub(crate) async fn steer(id: &str, deed: &str) -> Result<(), ErrorBody> {
    let url = format!("/api/v1/experiments/{}", encoded(id));
    let (method, url, body) =
        if deed == "stop" { ("DELETE", url, None) } else { ("POST", format!("{url}/{deed}"), Some("{}".into())) };
    send(method, &url, body).await.map(drop)
}
/// What is stored of an experiment: a part of it, or all for none.
pub(crate) async fn experiment(id: &str, part: &str) -> Result<String, ErrorBody> {
    send("GET", &format!("/api/v1/experiments/{}{part}", encoded(id)), None).await
}
/// Experiments side by side: a piece of HTML in which the server has escaped all text.
pub(crate) async fn contrast(ids: &str) -> Result<String, ErrorBody> {
    send("GET", &format!("/api/v1/experiments/compare?ids={}", encoded(ids)), None).await
}
/// What a kiosk screen with this page's address shows.
pub(crate) async fn kiosk_plan() -> Result<Value, ErrorBody> {
    get(&format!("/api/v1/kiosk/plan{}", leptos::prelude::window().location().search().unwrap_or_default())).await
}
/// A panel of a kiosk: a piece of HTML in which the server has escaped all text.
pub(crate) async fn kiosk_panel(name: &str) -> Result<String, ErrorBody> {
    send("GET", &format!("/api/v1/kiosk/panels/{name}"), None).await
}
/// This page as the server has it now.
pub(crate) async fn page() -> Result<String, ErrorBody> {
    send("GET", "/", None).await
}
/// Sets knobs.
pub(crate) async fn set_knobs(request: &SetRequest) -> Result<SetAnswer, ErrorBody> {
    read(&send("POST", "/api/v1/knobs", to_json(request)?).await?)
}
/// Keeps what falls back otherwise.
pub(crate) async fn confirm() -> Result<(), ErrorBody> {
    send("POST", "/api/v1/knobs/confirm", Some("{}".into())).await.map(drop)
}
/// Puts back everything that Brakecheck has changed.
pub(crate) async fn restore(request: &RestoreRequest) -> Result<RestoreReport, ErrorBody> {
    read(&send("POST", "/api/v1/restore", to_json(request)?).await?)
}
/// What this browser may do; none when the server does not answer.
pub(crate) async fn session() -> Option<Access> {
    match send("GET", "/api/v1/session", None).await {
        Ok(role) => Some(if role.contains("viewer") { Access::Viewer } else { Access::Operator }),
        Err(e) if e.code == ErrorCode::Unauthorized => Some(Access::Stranger),
        Err(e) if e.code == ErrorCode::Password => Some(Access::Locked),
        Err(_) => None,
    }
}
/// Shows the viewers' password; the server keeps whoever knows it known.
pub(crate) async fn give_password(password: &str) -> Result<(), ErrorBody> {
    // Bytes as characters, as `btoa` wants them.
    let bytes: String = format!(":{password}").bytes().map(char::from).collect();
    let encoded = leptos::prelude::window().btoa(&bytes).unwrap_or_default();
    ask("GET", "/api/v1/session", None, Some(("authorization", &format!("Basic {encoded}")))).await.map(drop)
}
/// The listener for viewers on the network.
pub(crate) async fn lan() -> Result<Value, ErrorBody> {
    get("/api/v1/lan").await
}
/// Switches it on or off.
pub(crate) async fn switch_lan(on: bool) -> Result<Value, ErrorBody> {
    read(&send("POST", "/api/v1/lan", Some(format!("{{\"on\":{on}}}").into())).await?)
}
/// Exchanges the token of the address for a cookie.
pub(crate) async fn log_in(token: &str) -> Option<bool> {
    let body = to_json(&SessionRequest { token: token.to_owned() }).ok()?;
    match send("POST", "/api/v1/session", body).await {
        Ok(_) => Some(true),
        Err(e) if e.code == ErrorCode::Unauthorized => Some(false),
        Err(_) => None,
    }
}

fn to_json(body: &impl serde::Serialize) -> Result<Option<JsValue>, ErrorBody> {
    serde_json::to_string(body)
        .map(|text| Some(text.into()))
        .map_err(|e| ErrorBody::new(ErrorCode::Internal, e.to_string()))
}

async fn get<T: Read>(url: &str) -> Result<T, ErrorBody> {
    read(&send("GET", url, None).await?)
}

fn read<T: Read>(text: &str) -> Result<T, ErrorBody> {
    read::text(text).map_err(|e| {
        ErrorBody::new(ErrorCode::Internal, format!("The server's answer cannot be read: {e}."))
            .hint("Page and server may differ in version; reload the page.")
    })
}

/// The body is JSON, as a text or a file.
async fn send(method: &str, url: &str, body: Option<JsValue>) -> Result<String, ErrorBody> {
    let header = body.is_some().then_some(("content-type", "application/json"));
    ask(method, url, body, header).await
}

/// Time in ms after which no answer comes any more: longer than the server gives itself.
const LONGEST: u32 = 32_000;

async fn ask(
    method: &str,
    url: &str,
    body: Option<JsValue>,
    header: Option<(&str, &str)>,
) -> Result<String, ErrorBody> {
    let unreachable = |_: JsValue| {
        ErrorBody::new(ErrorCode::Internal, "The server does not answer.")
            .hint("It may have been stopped; start it again with `brakecheck serve`.")
    };
    let init = RequestInit::new();
    init.set_method(method);
    if method == "GET" {
        // A network that loses everything would keep the connection for a quarter of an hour, and a browser has six.
        init.set_signal(Some(&AbortSignal::timeout_with_u32(LONGEST)));
    }
    if let Some((name, value)) = header {
        let headers = Headers::new().map_err(unreachable)?;
        headers.set(name, value).map_err(unreachable)?;
        init.set_headers(&headers);
    }
    if let Some(body) = body {
        init.set_body(&body);
    }
    let answer = JsFuture::from(leptos::prelude::window().fetch_with_str_and_init(url, &init)).await;
    let response: Response = answer.map_err(unreachable)?.unchecked_into();
    let text = JsFuture::from(response.text().map_err(unreachable)?).await.map_err(unreachable)?;
    let text = text.as_string().unwrap_or_default();
    if response.ok() {
        return Ok(text);
    }
    Err(read::text(&text).unwrap_or_else(|_| {
        let code = if response.status() == 401 { ErrorCode::Unauthorized } else { ErrorCode::Internal };
        ErrorBody::new(code, format!("The server answered {} to {method} {url}.", response.status()))
    }))
}

fn encoded(text: &str) -> String {
    js_sys::encode_uri_component(text).into()
}
