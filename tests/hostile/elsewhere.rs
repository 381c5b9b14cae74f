//! A network of its own: what is reached from there, and what is not.

use anyhow::{Context, Result, ensure};
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tests::{PATIENCE, Server};

/// A network namespace with a cable to this one; taken down on drop.
struct Elsewhere {
    name: String,
    /// Our end of the cable.
    link: String,
    /// Our address on it.
    address: String,
}

impl Elsewhere {
    /// None, with a word on why, where none can be made.
    fn new() -> Result<Option<Self>> {
        take_down_leftovers();
        let number = std::process::id();
        let net = format!("10.213.{}", number % 250);
        let it = Self { name: format!("bc{number}"), link: format!("bc{number}a"), address: format!("{net}.1") };
        if !rustix::process::geteuid().is_root() || ip(&["netns", "add", &it.name]).is_err() {
            println!("skipped: no network namespace can be made here (it takes root and iproute2)");
            return Ok(None);
        }
        let peer = format!("bc{number}b");
        ip(&["link", "add", &it.link, "type", "veth", "peer", "name", &peer, "netns", &it.name])?;
        ip(&["addr", "add", &format!("{}/24", it.address), "dev", &it.link])?;
        ip(&["-n", &it.name, "addr", "add", &format!("{net}.2/24"), "dev", &peer])?;
        ip(&["-n", &it.name, "link", "set", &peer, "up"])?;
        it.set("up")?;
        Ok(Some(it))
    }

    fn set(&self, state: &str) -> Result<()> {
        ip(&["link", "set", &self.link, state])
    }

    /// What comes back from there for this request, to the end or for two seconds; none if nobody answers.
    fn ask(&self, port: &str, request: &str) -> Result<Option<String>> {
        let talk = format!("exec 3<>/dev/tcp/{}/{port} && printf '%b' \"$1\" >&3 && timeout 2 cat <&3", self.address);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, "timeout", "5", "bash", "-c", &talk, "ask", request]);
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((!text.is_empty()).then_some(text))
    }

    /// Sends this request from there and listens until killed.
    fn hold(&self, port: &str, request: &str) -> Result<Child> {
        let talk =
            format!("exec 3<>/dev/tcp/{}/{port} && printf '%b' \"$1\" >&3 && exec cat <&3 >/dev/null", self.address);
        let mut command = Command::new("ip");
        Ok(command.args(["netns", "exec", &self.name, "bash", "-c", &talk, "hold", request]).spawn()?)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        // The cable goes with it.
        let _ = ip(&["netns", "del", &self.name]);
    }
}

/// Takes down what a process has left that was killed.
fn take_down_leftovers() {
    let Ok(output) = Command::new("ip").args(["netns", "list"]).output() else { return };
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    for name in listed.lines().filter_map(|line| line.split_whitespace().next()) {
        let dead =
            |pid: &str| pid.parse::<u32>().is_ok_and(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists());
        if name.strip_prefix("bc").is_some_and(dead) {
            let _ = ip(&["netns", "del", name]);
        }
    }
}

fn ip(arguments: &[&str]) -> Result<()> {
    let output = Command::new("ip").args(arguments).output().context("ip")?;
    ensure!(output.status.success(), "ip {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[tokio::test]
async fn another_network_reaches_the_viewers_listener_and_nothing_else() -> Result<()> {
    let Some(elsewhere) = Elsewhere::new()? else { return Ok(()) };
    let server = Server::with(&["--lan", &format!("{}:0", elsewhere.address)])?;
    let host = server.viewers().await?.trim_start_matches("http://").to_owned();
    let port = host.rsplit(':').next().context("a port")?.to_owned();
    let own = server.page("").rsplit(':').next().context("a port")?.to_owned();
    let get = |path: &str| format!("GET {path} HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n");
    let answers = |request: &str, start: &str| -> Result<()> {
        let answer = elsewhere.ask(&port, request)?.unwrap_or_default();
        ensure!(answer.starts_with(start), "{request}: {answer}");
        Ok(())
    };
    answers(&get("/"), "HTTP/1.1 200")?;
    answers(&get("/api/v1/runs"), "HTTP/1.1 200")?;
    let change = format!(
        "POST /api/v1/knobs HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\nContent-Type: application/json\\r\\n\
         Authorization: Bearer {}\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}",
        server.token()
    );
    answers(&change, "HTTP/1.1 404")?;
    let upgrade = format!(
        "GET /ws/bench HTTP/1.1\\r\\nHost: {host}\\r\\nOrigin: http://{host}\\r\\nConnection: Upgrade\\r\\n\
         Upgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n"
    );
    let opened = elsewhere.ask(&port, &upgrade)?.unwrap_or_default();
    ensure!(opened.starts_with("HTTP/1.1 101") && opened.contains("\"snapshot\""), "{opened}");
    ensure!(elsewhere.ask(&own, &get("/"))?.is_none(), "the operator's listener is reached");
    // A cut does no harm: whoever is behind it is let go of, and may come again.
    let mut held = elsewhere.hold(&port, &upgrade)?;
    watched_by(&server, 1).await?;
    elsewhere.set("down")?;
    ensure!(elsewhere.ask(&port, &get("/"))?.is_none());
    watched_by(&server, 0).await?;
    elsewhere.set("up")?;
    answers(&get("/api/v1/runs"), "HTTP/1.1 200")?;
    let again = elsewhere.ask(&port, &upgrade)?.unwrap_or_default();
    held.kill()?;
    held.wait()?;
    ensure!(again.starts_with("HTTP/1.1 101") && again.contains("\"snapshot\""), "{again}");
    Ok(())
}

/// Waits until so many watch at the viewers' listener.
async fn watched_by(server: &Server, number: u32) -> Result<()> {
    let began = Instant::now();
    while server.get("/lan").await?["viewers"] != number {
        ensure!(began.elapsed() < PATIENCE, "{number} viewers are never there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
