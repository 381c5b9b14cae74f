//! The program itself: start, second instances, signals, sudden death.

use crate::common::{Access, Lan, PATIENCE, directory, give_to_server, reads};
use protocol::event::Event;
use protocol::run::RunState;
use server::state_dir::StateDir;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn command(state: &Path, port: &str) -> Command {
    command_below(Path::new("/"), state, port)
}

/// For the settings below `root`.
fn command_below(root: &Path, state: &Path, port: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_brakecheck"));
    command.arg("--sysroot").arg(root).args(["serve", "--no-resume", "--port", port, "--state-dir"]).arg(state);
    if rustix::process::geteuid().is_root() {
        command.args(["--user", "nobody"]);
    }
    command.env("LC_ALL", "de_DE.UTF-8").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A server as a process of its own; killed when dropped.
pub(crate) struct Program {
    child: Child,
    pub(crate) access: Access,
}

impl Program {
    fn start(state: &Path) -> Self {
        Self::below(Path::new("/"), state)
    }

    /// One that has the settings below `root` in hand.
    pub(crate) fn below(root: &Path, state: &Path) -> Self {
        Self::spawned(&mut command_below(root, state, "0"))
    }

    /// One with a listener for viewers.
    pub(crate) fn watched(state: &Path) -> Self {
        Self::spawned(command(state, "0").args(["--lan", "127.0.0.1:0"]))
    }

    fn spawned(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, access: Access::from_line(&line) }
    }

    /// Where viewers come in, without the scheme.
    pub(crate) async fn viewers(&self) -> String {
        Lan::at(self.access.json("/api/v1/lan").await["url"].as_str().unwrap()).authority
    }

    /// Most memory that it ever had, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
        1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for its end; returns exit code and what it wrote to standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (status.code(), text)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Fails when it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn refusal(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_listens_at_once_and_ends_in_order() {
    let dir = directory();
    let began = Instant::now();
    let program = Program::start(&dir.path().join("state"));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let access = program.access.clone();
    assert_eq!(access.get("/healthz").send().await.unwrap().status(), 200);
    let port = access.authority.rsplit(':').next().unwrap();
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        let v6 = access.client.get(format!("http://[::1]:{port}/healthz")).send().await.unwrap();
        assert_eq!(v6.status(), 200);
    }
    program.signal(rustix::process::Signal::TERM);
    let (code, text) = program.end();
    assert_eq!(code, Some(0), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn second_instances_are_told_about_the_first() {
    let dir = directory();
    let state = dir.path().join("state");
    let program = Program::start(&state);
    let address = program.access.url("/");
    let port = program.access.authority.rsplit(':').next().unwrap();

    let same_state = refusal(&command(&state, "0").output().unwrap(), 2);
    let pid = program.child.id().to_string();
    assert!(same_state.contains(&address) && same_state.contains(&pid), "{same_state}");
    assert!(same_state.contains("--state-dir"), "{same_state}");

    let same_port = refusal(&command(&dir.path().join("other"), port).output().unwrap(), 2);
    assert!(same_port.contains(port) && same_port.contains("--port"), "{same_port}");
    assert_eq!(program.access.get("/healthz").send().await.unwrap().status(), 200, "the first goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_json_where_json_is_asked_for() {
    let dir = directory();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = command(&file, "0").arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let body: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(body["error"]["code"], "usage");
    let output = command(&file, "seven").arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let body: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(body["error"]["message"].as_str().unwrap().contains("seven"), "{body}");
}

#[test]
fn what_cannot_serve_viewers_is_said_before_anything_is_served() {
    let dir = directory();
    let state = dir.path().join("state");
    let told = |args: &[&str], code: i32| refusal(&command(&state, "0").args(args).output().unwrap(), code);
    assert!(told(&["--lan", "box.local"], 2).contains("is not an address"));
    let foreign = told(&["--lan", "192.0.2.1"], 2);
    assert!(foreign.contains("does not have the address 192.0.2.1") && foreign.contains("0.0.0.0"), "{foreign}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = told(&["--lan", &taken.local_addr().unwrap().to_string()], 2);
    assert!(taken.contains("in use") && taken.contains("--lan ADDRESS:PORT"), "{taken}");
    let password = told(&["--lan", "127.0.0.1:0", "--viewer-password-file", "/no/such"], 2);
    assert!(password.contains("/no/such") && password.contains("first line"), "{password}");
    assert!(told(&["--viewer-password-file", "/no/such"], 2).contains("--lan"));
    let certificate = told(&["--lan", "127.0.0.1:0", "--lan-cert", "/no/such", "--lan-key", "/no/such"], 2);
    assert!(certificate.contains("/no/such") && certificate.contains("--lan-tls"), "{certificate}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_addresses_are_allowed_with_what_that_means_and_the_environment_is_heard() {
    let dir = directory();
    let mut child = command(&dir.path().join("state"), "0").env("BRAKECHECK_LAN", "0.0.0.0:0").spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let program = Program { child, access: Access::from_line(&line) };
    let status = program.access.json("/api/v1/lan").await;
    let url = status["url"].as_str().unwrap().to_owned();
    assert!(status["on"] == true && !url.contains("0.0.0.0"), "{status}");
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    let here = program.access.client.get(format!("http://127.0.0.1:{port}/healthz")).send().await.unwrap();
    assert_eq!(here.status(), 200);
    program.signal(rustix::process::Signal::TERM);
    let (code, text) = program.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(&url) && text.contains("every address of this host"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configuration_is_heard_where_nothing_else_is_said() {
    let dir = directory();
    let file = dir.path().join("brakecheck.toml");
    let text = "port = 1\nallow-host = [\"bench.example\"]\n[lan]\naddress = \"192.0.2.1\"\n\
        viewer-password-file = \"password\"\n[kiosk]\nshow = [\"host\", \"run\"]\ndwell = 30\n";
    std::fs::write(&file, text).unwrap();
    std::fs::write(dir.path().join("password"), "open sesame\n").unwrap();
    // The port is the command line's, the address the environment's, the rest the file's.
    let mut with_file = command(&dir.path().join("state"), "0");
    with_file.arg("--config").arg(&file).env("BRAKECHECK_LAN", "127.0.0.1:0");
    let mut child = with_file.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let program = Program { child, access: Access::from_line(&line) };
    let kiosk = program.access.json("/api/v1/kiosk").await;
    assert_eq!(kiosk, serde_json::json!({ "show": ["host", "run"], "dwell": 30.0, "dim": null, "shift": true }));
    let lan = program.access.json("/api/v1/lan").await;
    assert!(lan["url"].as_str().unwrap().starts_with("http://127.0.0.1:") && lan["password"] == true, "{lan}");
    let port = program.access.authority.rsplit(':').next().unwrap();
    let host = format!("bench.example:{port}");
    let named = program.access.get("/healthz").header("host", host).send().await.unwrap();
    assert_eq!(named.status(), 200);

    let told = |text: &str| {
        std::fs::write(&file, text).unwrap();
        refusal(&command(&dir.path().join("other"), "0").arg("--config").arg(&file).output().unwrap(), 2)
    };
    let unknown = told("prot = 1\n");
    assert!(unknown.contains("`prot`; did you mean `port`?") && unknown.contains(file.to_str().unwrap()), "{unknown}");
    let wrong = told("[kiosk]\ndwell = 1\n");
    assert!(wrong.contains("line 2") && wrong.contains("5 to 3600"), "{wrong}");
    std::fs::remove_file(&file).unwrap();
    let absent = refusal(&command(&dir.path().join("other"), "0").env("BRAKECHECK_CONFIG", &file).output().unwrap(), 2);
    assert!(absent.contains("no such file") && absent.contains(file.to_str().unwrap()), "{absent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_survives_the_sudden_death_of_the_program() {
    let dir = directory();
    let (state, target) = (dir.path().join("state"), dir.path().join("target"));
    std::fs::create_dir(&target).unwrap();
    give_to_server(&target);
    let program = Program::start(&state);
    let mut viewer = program.access.socket().await;
    let id = program.access.start(&reads(&target, 60_000)).await;
    let frames = viewer.until(|e| matches!(e, Event::Sample { sample, .. } if sample.t_ms > 1000.0)).await;
    let seen = frames.iter().filter(|f| matches!(f.event, Event::Sample { .. })).count();
    program.signal(rustix::process::Signal::KILL);
    program.end();

    let program = Program::start(&state);
    let run = program.access.run(&id).await.record;
    assert_eq!(run.state, RunState::Interrupted);
    assert!(run.error.is_some());
    let samples = program.access.json(&format!("/api/v1/runs/{id}/samples")).await;
    let kept = samples.as_array().unwrap().len();
    assert!(kept + 10 >= seen, "{kept} of {seen} samples are kept: more than half a second is lost");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "the file is removed at the next start");
    // The next run is not in the way of the dead one.
    let mut viewer = program.access.socket().await;
    let next = program.access.start(&reads(&target, 100)).await;
    assert_eq!(viewer.end_of(&next).await, RunState::Done);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_store_is_put_aside_and_said_so() {
    let dir = directory();
    let state = StateDir::open(dir.path().join("state")).unwrap();
    std::fs::write(state.database(), vec![0x5a; 10_000]).unwrap();
    let program = Program::start(state.path());
    assert_eq!(program.access.json("/api/v1/runs").await, serde_json::json!([]));
    program.signal(rustix::process::Signal::INT);
    let (code, text) = program.end();
    assert_eq!(code, Some(0));
    assert!(text.contains("damaged") && text.contains("results.db.corrupt-"), "{text}");
    let kept = std::fs::read_dir(state.path()).unwrap().filter_map(Result::ok);
    let kept = kept.filter(|e| e.file_name().to_string_lossy().contains("corrupt")).map(|e| e.path());
    assert_eq!(std::fs::read(kept.last().unwrap()).unwrap(), vec![0x5a; 10_000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_store_is_refused_and_left_alone() {
    let dir = directory();
    let state = StateDir::open(dir.path().join("state")).unwrap();
    drop(server::store::open(&state).unwrap());
    let db = rusqlite::Connection::open(state.database()).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let text = refusal(&command(state.path(), "0").output().unwrap(), 2);
    assert!(text.contains("newer version") && text.contains("--state-dir"), "{text}");
}
