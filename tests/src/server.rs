//! A server of the program on a free port.

use crate::{give_to_server, program, scratch, send, server_user};
use anyhow::{Context, Result, bail, ensure};
use futures_util::{Stream, StreamExt, TryStreamExt};
use rustix::process::Signal;
use serde_json::Value;
use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

/// A running server; stopped on drop, its log shown if the test failed.
#[derive(Debug)]
pub struct Server {
    child: Child,
    url: String,
    log: PathBuf,
    dirs: Arc<Dirs>,
    // Closing it would make the server's next line an error.
    _stdout: BufReader<ChildStdout>,
}

/// Where a server's things lie, restarts included.
#[derive(Debug)]
struct Dirs {
    /// Holds the state directory and the log.
    top: TempDir,
    target: TempDir,
    /// Further options.
    options: Vec<OsString>,
}

impl Dirs {
    fn new(options: Vec<OsString>) -> Result<Self> {
        let (top, target) = (scratch()?, scratch()?);
        std::fs::set_permissions(top.path(), Permissions::from_mode(0o755))?;
        give_to_server(target.path())?;
        Ok(Self { top, target, options })
    }

    fn state(&self) -> PathBuf {
        self.top.path().join("state")
    }
}

impl Server {
    /// Starts one with fresh state.
    pub fn start() -> Result<Self> {
        Self::spawn(Arc::new(Dirs::new(Vec::new())?), 0, &[])
    }

    /// Starts one with fresh state and these options of `serve`.
    pub fn with(options: &[&str]) -> Result<Self> {
        Self::spawn(Arc::new(Dirs::new(Vec::new())?), 0, options)
    }

    /// Starts one with fresh state for the settings below `root`.
    pub fn below(root: &Path) -> Result<Self> {
        Self::spawn(Arc::new(Dirs::new(vec!["--sysroot".into(), root.into()])?), 0, &[])
    }

    /// Starts one with fresh state for the settings below `root`, with a listener for viewers; `further` options of it.
    pub fn watched(root: &Path, further: &[&str]) -> Result<Self> {
        let dirs = Dirs::new(vec!["--sysroot".into(), root.into()])?;
        Self::spawn(Arc::new(dirs), 0, &[&["--lan", "127.0.0.1:0"], further].concat())
    }

    /// The viewers' address, without the slash at its end.
    pub async fn viewers(&self) -> Result<String> {
        let lan = self.get("/lan").await?;
        let url = lan["url"].as_str().with_context(|| format!("viewers have no address: {lan}"))?;
        Ok(url.trim_end_matches('/').to_owned())
    }

    /// Starts another on the same state, port and target directory, as a user would after a crash; an experiment that
    /// was on stays as it is.
    pub fn again(&self) -> Result<Self> {
        Self::spawn(Arc::clone(&self.dirs), self.port()?, &["--no-resume"])
    }

    /// The same with these options of `serve`.
    pub fn again_with(&self, options: &[&str]) -> Result<Self> {
        Self::spawn(Arc::clone(&self.dirs), self.port()?, options)
    }

    /// The same, with the experiment going on.
    pub fn resuming(&self) -> Result<Self> {
        Self::spawn(Arc::clone(&self.dirs), self.port()?, &[])
    }

    fn spawn(dirs: Arc<Dirs>, port: u16, further: &[&str]) -> Result<Self> {
        let log = dirs.top.path().join("server.log");
        let mut child = Command::new(program()?)
            .arg("--state-dir")
            .arg(dirs.state())
            .args(&dirs.options)
            .args(["serve", "--port", &port.to_string()])
            .args(further)
            .args(server_user().iter().flat_map(|user| ["--user", user]))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(&log)?)
            .spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        if !line.contains("#token=") {
            child.wait()?;
            bail!("the server did not print its address: {line}{}", std::fs::read_to_string(&log)?);
        }
        Ok(Self { child, url: line.trim().into(), log, dirs, _stdout: stdout })
    }

    /// What it has said so far beside its address.
    pub fn log(&self) -> Result<String> {
        Ok(std::fs::read_to_string(&self.log)?)
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The address with the token, as printed.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address of a page, without the token.
    pub fn page(&self, path: &str) -> String {
        let base = self.url.split('#').next().unwrap_or_default();
        format!("{}{path}", base.trim_end_matches('/'))
    }

    /// The WebAssembly that a browser loads, in an encoding; a program built for tests has it in none.
    pub async fn wasm(&self, encoding: &str) -> Result<Vec<u8>> {
        let index = reqwest::get(self.page("/")).await?.text().await?;
        let end = index.find("_bg.wasm").context("the page loads no wasm")? + "_bg.wasm".len();
        let start = index[..end].rfind(['/', '"', '\'']).context("the wasm has a path")? + 1;
        let url = self.page(&format!("/{}", &index[start..end]));
        let answer = reqwest::Client::new().get(url).header("accept-encoding", encoding).send().await?;
        Ok(answer.error_for_status()?.bytes().await?.into())
    }

    /// A directory that runs may use.
    pub fn target(&self) -> &Path {
        self.dirs.target.path()
    }

    /// Its state directory.
    pub fn state_dir(&self) -> PathBuf {
        self.dirs.state()
    }

    fn port(&self) -> Result<u16> {
        let base = self.page("");
        Ok(base.rsplit(':').next().context("the address has a port")?.parse()?)
    }

    /// `GET` under `/api/v1`.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.request(reqwest::Method::GET, path, None).await
    }

    /// `POST` under `/api/v1`.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.request(reqwest::Method::POST, path, Some(body)).await
    }

    /// `DELETE` under `/api/v1`.
    pub async fn delete(&self, path: &str) -> Result<Value> {
        self.request(reqwest::Method::DELETE, path, None).await
    }

    /// The frames of `/ws/bench` as they come, the first snapshot included.
    pub async fn frames(&self) -> Result<impl Stream<Item = Result<Utf8Bytes>> + Unpin + use<>> {
        let mut request = self.page("/ws/bench").replacen("http", "ws", 1).into_client_request()?;
        request.headers_mut().insert("authorization", format!("Bearer {}", self.token()).parse()?);
        let (socket, _) = tokio_tungstenite::connect_async(request).await?;
        let texts = socket.try_filter_map(async |m| Ok(m.is_text().then(|| m.into_text())));
        Ok(Box::pin(texts.map(|text| Ok(text??))))
    }

    /// Waits until a frame is as wanted; returns it.
    pub async fn event(&self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let mut frames = self.frames().await?;
        while let Some(frame) = frames.next().await {
            let frame = serde_json::from_str(&frame?)?;
            if wanted(&frame) {
                return Ok(frame);
            }
        }
        bail!("the stream ended")
    }

    /// Waits until a run has ended.
    pub async fn ended(&self, id: &str) -> Result<()> {
        let over = |v: &Value| v["state"] != "running" && v["state"] != "queued";
        self.event(|f| match f["type"].as_str() {
            Some("snapshot") => f["run"]["id"] == id && over(&f["run"]),
            Some("run-finished") => f["run"] == id,
            _ => false,
        })
        .await
        .map(drop)
    }

    /// The description of its API.
    pub async fn described(&self) -> Result<Value> {
        let request = reqwest::Client::new().get(self.page("/api/openapi.json")).bearer_auth(self.token());
        Ok(request.send().await?.error_for_status()?.json().await?)
    }

    /// The operator's token.
    pub fn token(&self) -> &str {
        self.url.rsplit("#token=").next().unwrap_or_default()
    }

    async fn request(&self, method: reqwest::Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let url = self.page(&format!("/api/v1{path}"));
        let mut request = reqwest::Client::new().request(method, url).bearer_auth(self.token());
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "{status}: {text}");
        Ok(if text.is_empty() { Value::Null } else { serde_json::from_str(&text)? })
    }

    /// Sends a signal and waits for the end. Returns the exit code, if it was not the signal that ended it.
    pub fn end(&mut self, signal: Signal) -> Result<Option<i32>> {
        send(&self.child, signal)?;
        Ok(self.child.wait()?.code())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // The process may end by itself between the two calls, which is as good.
            let _ = self.end(Signal::TERM);
        }
        if std::thread::panicking() {
            eprintln!("--- server log\n{}", std::fs::read_to_string(&self.log).unwrap_or_default());
        }
    }
}
