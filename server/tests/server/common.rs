//! A server in this process, and one as a process of its own.

use futures_util::StreamExt;
use power::desk::Reader;
use protocol::api::RunDetail;
use protocol::event::{Event, Frame};
use protocol::kiosk::Kiosk;
use protocol::run::RunState;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use server::http::App;
use server::live::Hub;
use server::serve::{Options, Server};
use server::state_dir::StateDir;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// Anything that takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A directory on a real file system for state and targets, which the user that a server becomes can reach.
pub(crate) fn directory() -> TempDir {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let closed = |dir: &Path| dir.metadata().unwrap().permissions().mode() & 0o001 == 0;
    let elsewhere = rustix::process::geteuid().is_root() && built.ancestors().any(closed);
    let dir = tempfile::tempdir_in(if elsewhere { Path::new("/var/tmp") } else { built }).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

/// Has `dir` belong to the user that a server started by root becomes.
pub(crate) fn give_to_server(dir: &Path) {
    if rustix::process::geteuid().is_root() {
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
        let nobody = passwd.lines().find(|line| line.starts_with("nobody:")).unwrap();
        let id = |n: usize| nobody.split(':').nth(n).unwrap().parse().ok();
        std::os::unix::fs::chown(dir, id(2), id(3)).unwrap();
    }
}

/// How to talk to a server.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// `127.0.0.1:7411`.
    pub(crate) authority: String,
    pub(crate) token: String,
    pub(crate) client: Client,
}

impl Access {
    /// From the line that `serve` prints.
    pub(crate) fn from_line(line: &str) -> Self {
        let (address, token) = line.trim().split_once("/#token=").unwrap();
        let authority = address.strip_prefix("http://").unwrap().to_owned();
        Self { authority, token: token.into(), client: Client::new() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.authority)
    }
    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.url(path)).bearer_auth(&self.token)
    }
    pub(crate) fn delete(&self, path: &str) -> RequestBuilder {
        self.client.delete(self.url(path)).bearer_auth(&self.token)
    }
    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client.post(self.url(path)).bearer_auth(&self.token).json(body)
    }

    pub(crate) async fn json(&self, path: &str) -> Value {
        let response = self.get(path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    /// Starts a run and returns its id.
    pub(crate) async fn start(&self, body: &Value) -> String {
        let response = self.post("/api/v1/runs", body).send().await.unwrap();
        assert_eq!(response.status(), 202, "{}", response.text().await.unwrap());
        let created: Value = response.json().await.unwrap();
        created["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn run(&self, id: &str) -> RunDetail {
        serde_json::from_value(self.json(&format!("/api/v1/runs/{id}")).await).unwrap()
    }

    /// A viewer as scripts connect: without Origin, with the token.
    pub(crate) async fn socket(&self) -> Socket {
        self.socket_at("/ws/bench").await
    }

    /// The same for any stream.
    pub(crate) async fn socket_at(&self, path: &str) -> Socket {
        Socket(tokio_tungstenite::connect_async(self.viewer(path)).await.unwrap().0)
    }

    /// A viewer whose side of the connection holds little that was not read.
    pub(crate) async fn narrow_socket(&self) -> Socket {
        let tcp = TcpSocket::new_v4().unwrap();
        tcp.set_recv_buffer_size(4096).unwrap();
        let stream = tcp.connect(self.authority.parse().unwrap()).await.unwrap();
        let stream = MaybeTlsStream::Plain(stream);
        Socket(tokio_tungstenite::client_async(self.viewer("/ws/bench"), stream).await.unwrap().0)
    }

    fn viewer(&self, path: &str) -> Request {
        let mut request = format!("ws://{}{path}", self.authority).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {}", self.token).parse().unwrap());
        request
    }
}

/// How viewers on the network talk to a server: with nothing to show.
#[derive(Debug, Clone)]
pub(crate) struct Lan {
    /// `127.0.0.1:7412`.
    pub(crate) authority: String,
    pub(crate) client: Client,
}

impl Lan {
    pub(crate) fn at(url: &str) -> Self {
        let authority = url.split_once("://").unwrap().1.trim_end_matches('/').to_owned();
        Self { authority, client: Client::new() }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.authority))
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// A viewer as a page connects: with its own address as Origin.
    pub(crate) async fn socket_at(&self, path: &str) -> Socket {
        let mut request = format!("ws://{}{path}", self.authority).into_client_request().unwrap();
        request.headers_mut().insert("origin", format!("http://{}", self.authority).parse().unwrap());
        Socket(tokio_tungstenite::connect_async(request).await.unwrap().0)
    }
}

/// A viewer.
pub(crate) struct Socket(pub(crate) WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    /// The next message that is not the server's asking whether this viewer is there, which may come at any time.
    pub(crate) async fn message(&mut self) -> Message {
        loop {
            let message = tokio::time::timeout(PATIENCE, self.0.next()).await.expect("no message came");
            match message.unwrap().unwrap() {
                Message::Ping(_) => {}
                other => return other,
            }
        }
    }

    pub(crate) async fn frame<F: DeserializeOwned>(&mut self) -> F {
        match self.message().await {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// Reads up to the first event that `wanted` takes; returns all that were read.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Vec<Frame> {
        let mut frames = Vec::new();
        loop {
            let frame: Frame = self.frame().await;
            let found = wanted(&frame.event);
            frames.push(frame);
            if found {
                return frames;
            }
        }
    }

    /// Reads up to the end of a run and returns how it ended.
    pub(crate) async fn end_of(&mut self, id: &str) -> RunState {
        let frames = self.until(|e| matches!(e, Event::RunFinished { run, .. } if run == id)).await;
        match &frames.last().unwrap().event {
            Event::RunFinished { state, .. } => *state,
            other => panic!("{other:?}"),
        }
    }
}

/// A server in this process.
pub(crate) struct TestServer {
    pub(crate) access: Access,
    pub(crate) dir: TempDir,
    pub(crate) hub: Arc<Hub>,
    pub(crate) app: Arc<App>,
    /// The way in for viewers on the network.
    pub(crate) viewers: Lan,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl TestServer {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| ()).await
    }

    /// A server with options of its own.
    pub(crate) async fn start_with(change: impl FnOnce(&mut Options)) -> Self {
        // Hundreds of viewers have both their ends in this process.
        server::limits::raise_open_files();
        let dir = directory();
        let state = StateDir::open(dir.path().join("state")).unwrap();
        let desk = Arc::new(Reader::new(power::Root::default(), "needs root: start with sudo"));
        let allow_hosts = vec!["bench.example".into()];
        let lan = Some("127.0.0.1:0".parse().unwrap());
        let (viewer_password, viewer_tls) = (None, None);
        let mut options = Options {
            port: 0,
            allow_hosts,
            lan,
            viewer_password,
            viewer_tls,
            kiosk: Kiosk::default(),
            resume: false,
            state,
            sysroot: "/".into(),
            desk,
        };
        change(&mut options);
        let server = Server::start(options).await.unwrap();
        let access = Access::from_line(&format!("{}#token={}", server.address(), server.app().token.secret()));
        let hub = Arc::clone(&server.app().hub);
        let app = Arc::clone(server.app());
        let url = server.app().lan.status(server.app()).url;
        let viewers = Lan::at(url.as_deref().unwrap_or("http://nowhere"));
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async {
            // A dropped sender stops it too.
            let _ = stopped.await;
        }));
        std::fs::create_dir(dir.path().join("target")).unwrap();
        Self { access, dir, hub, app, viewers, stop, task }
    }

    pub(crate) fn target(&self) -> PathBuf {
        self.dir.path().join("target")
    }

    /// Random reads of a small file for `ms` milliseconds.
    pub(crate) fn reads(&self, ms: u32) -> Value {
        reads(&self.target(), ms)
    }

    /// Stops it as a signal would.
    pub(crate) async fn stop(self) -> TempDir {
        self.stop.send(()).unwrap();
        tokio::time::timeout(PATIENCE, self.task).await.expect("the server does not end").unwrap();
        self.dir
    }
}

/// Random reads of a small file for `ms` milliseconds.
pub(crate) fn reads(target: &Path, ms: u32) -> Value {
    let workload = json!({ "rw": "randread", "bs": "4k", "iodepth": 4, "size": "16m", "runtime": format!("{ms}ms") });
    json!({ "target": target, "workloads": [workload] })
}

/// Asserts status and code of an error answer and returns its message and hint as one text.
pub(crate) async fn refused(response: Response, status: u16, code: &str) -> String {
    assert_eq!(response.status(), StatusCode::from_u16(status).unwrap());
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["code"], code, "{body}");
    format!("{} {}", body["message"].as_str().unwrap(), body["hint"].as_str().unwrap_or_default())
}
