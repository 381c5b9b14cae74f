//! A server to be spoken to.

use crate::frames::Door;
use power::desk::Reader;
use server::serve::{Options, Server};
use server::state_dir::StateDir;
use std::sync::Arc;

/// Both WebSockets on both listeners of a server that lives as long as this process; it can read settings alone, and
/// measures nothing.
pub fn doors() -> [Door; 4] {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            port: 0,
            allow_hosts: Vec::new(),
            lan: Some("127.0.0.1:0".parse().unwrap()),
            viewer_password: None,
            viewer_tls: None,
            kiosk: protocol::kiosk::Kiosk::default(),
            state: StateDir::open(dir.path().join("state")).unwrap(),
            sysroot: "/".into(),
            resume: false,
            desk: Arc::new(Reader::new(power::Root::default(), "only watches")),
        };
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let server = Server::start(options).await.unwrap();
            let app = server.app();
            let viewers = app.lan.status(app).url.unwrap();
            send.send((server.address().to_owned(), app.token.secret().to_owned(), viewers)).unwrap();
            server.run(std::future::pending()).await;
        });
    });
    let (own, token, viewers) = receive.recv().unwrap();
    let at = |url: &str| url.trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
    let (shown, page) = (format!("Authorization: Bearer {token}\r\n"), viewers.trim_end_matches('/'));
    let origin = format!("Origin: {page}\r\n");
    [
        Door::new(at(&own), "/ws/bench", &shown),
        Door::new(at(&own), "/ws/power", &shown),
        Door::new(at(&viewers), "/ws/bench", &origin),
        Door::new(at(&viewers), "/ws/power", &origin),
    ]
}
