//! What reads what others wrote. None of these may panic, hang or take memory without bounds, whatever the bytes are.

use axum::http::Request;
use protocol::api::{LanRequest, RunRequest, SessionRequest};
use protocol::event::ClientMessage;
use protocol::experiment::request::ExperimentText;
use protocol::experiment::{ExperimentSpec, Use};
use protocol::power::{RestoreRequest, SetRequest};
use protocol::units::{Bytes, Iops, Micros, Seconds};
use protocol::workload::{Distribution, Rw, Wait};
use serde::de::DeserializeOwned;
use server::http::gate::Gate;
use server::report::{self, Format};

/// Bodies of every POST, and what a client may say on a WebSocket.
pub fn bodies(data: &[u8]) {
    fn read<T: DeserializeOwned>(data: &[u8]) -> Option<T> {
        serde_json::from_slice(data).ok()
    }
    if let Some(run) = read::<RunRequest>(data) {
        let _ = run.plan();
    }
    if let Some(spec) = read::<ExperimentSpec>(data)
        && spec.validate().is_ok()
    {
        let _ = (spec.expanded_workloads(), spec.title());
    }
    let _ = read::<SetRequest>(data);
    let _ = read::<RestoreRequest>(data);
    let _ = read::<LanRequest>(data);
    let _ = read::<SessionRequest>(data);
    let _ = read::<ExperimentText>(data);
    let _ = read::<ClientMessage>(data);
}

/// Experiment files.
pub fn files(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = server::experiment::file::keys(text);
    }
}

/// What must not come out as it went in: a line of its own, and an element.
pub const PLANTED: &str = "x\nPLANTED\r\nPLANTED <script>PLANTED";

/// Experiments of other hosts. What is taken is also drawn, and written in every form, where nothing in it may become
/// an element of a page or a line of a script. Returns whether it is taken.
pub fn import(data: &[u8]) -> bool {
    let Ok((file, _)) = server::experiment::import::open(data) else { return false };
    let mut drawn = vec![report::kiosk::verdict(&file, &[]), report::kiosk::ladder(&file)];
    for format in Format::ALL {
        let purposes = if matches!(format, Format::Html | Format::Json) { &Use::ALL[..1] } else { &Use::ALL };
        for purpose in purposes {
            drawn.extend(report::export(&file, format, *purpose));
        }
    }
    for text in drawn {
        assert!(!text.contains("<script>PLANTED"), "{text}");
        assert!(text.starts_with('{') || !text.lines().any(|l| l.trim_start().starts_with("PLANTED")), "{text}");
    }
    true
}

/// Heads of requests, at the gate: a line each, `name: value`. Nobody gets in without the token.
pub fn heads(gate: &Gate, data: &[u8]) {
    let mut lines = data.split(|b| *b == b'\n');
    let mut request = Request::builder().uri(lines.next().unwrap_or_default());
    for line in lines.take(100) {
        let colon = line.iter().position(|b| *b == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        request = request.header(name, value.get(1..).unwrap_or_default());
    }
    let Ok(request) = request.body(()) else { return };
    let role = gate.check(&request.into_parts().0);
    assert!(!matches!(role, Ok(Some(_))), "{role:?} without a token");
}

/// Sizes, times, and other words in fio's spelling.
pub fn words(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(size) = text.parse::<Bytes>() {
        assert_eq!(size.fio().parse(), Ok(size));
    }
    if let Ok(time) = text.parse::<Seconds>() {
        assert_eq!(time.to_string().parse(), Ok(time));
    }
    let _ = (text.parse::<Micros>(), text.parse::<Iops>());
    let _ = (text.parse::<Rw>(), text.parse::<Wait>(), text.parse::<Distribution>());
    let _ = text.parse::<protocol::experiment::Design>();
}
