//! Reads a frame of `/ws/bench`.
//!
//! The derived `Deserialize` of a frame compiles every type it can carry three times over: for the text, for the
//! buffer of the tagged enum, and for the flattened rest. That is a quarter of the whole page. Taken apart by hand,
//! every type is compiled once; the tests hold this reader to the derived one.

use protocol::event::Event;
use serde::de::{DeserializeOwned, Error};
use serde_json::{Map, Value};

/// Number and event of a frame.
pub(crate) fn read(text: &str) -> serde_json::Result<(u64, Event)> {
    let mut frame: Map<String, Value> = serde_json::from_str(text)?;
    let f = &mut frame;
    let (seq, kind): (u64, String) = (take(f, "seq")?, take(f, "type")?);
    let event = match kind.as_str() {
        "snapshot" => Event::Snapshot(Box::new(rest(frame)?)),
        "run-started" => Event::RunStarted { run: take(f, "run")? },
        "layout" => Event::Layout {
            run: take(f, "run")?,
            done: take(f, "done")?,
            total: take(f, "total")?,
            bw: take(f, "bw")?,
            progress: take(f, "progress")?,
            eta_ms: take(f, "eta_ms")?,
        },
        "pause" => Event::Pause {
            run: take(f, "run")?,
            step: take(f, "step")?,
            left_ms: take(f, "left_ms")?,
            progress: take(f, "progress")?,
            eta_ms: take(f, "eta_ms")?,
        },
        "workload-started" => {
            Event::WorkloadStarted { run: take(f, "run")?, step: take(f, "step")?, label: take(f, "label")? }
        }
        "sample" => Event::Sample { run: take(f, "run")?, sample: Box::new(rest(frame)?) },
        "workload-finished" => Event::WorkloadFinished { run: take(f, "run")?, result: take(f, "result")? },
        "run-finished" => {
            Event::RunFinished { run: take(f, "run")?, state: take(f, "state")?, error: take(f, "error")? }
        }
        "runs" => Event::Runs { queue: take(f, "queue")?, removed: take(f, "removed")? },
        "error" => Event::Error { error: take(f, "error")? },
        other => return Err(Error::custom(format!("unknown event `{other}`"))),
    };
    Ok((seq, event))
}

/// One field; an absent one is read as `null`, which is none for what is optional and an error for the rest.
pub(super) fn take<T: DeserializeOwned>(frame: &mut Map<String, Value>, name: &str) -> serde_json::Result<T> {
    serde_json::from_value(frame.remove(name).unwrap_or_default())
}

/// All fields that are left.
pub(super) fn rest<T: DeserializeOwned>(frame: Map<String, Value>) -> serde_json::Result<T> {
    serde_json::from_value(Value::Object(frame))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fixture;
    use protocol::error::{ErrorBody, ErrorCode};
    use protocol::event::{Frame, Snapshot};
    use protocol::run::RunState;
    use protocol::units::{Bytes, BytesPerSecond};

    #[test]
    fn every_event_is_read_as_the_protocol_reads_it() {
        let run = || "r1".to_owned();
        let error = || ErrorBody::new(ErrorCode::RunFailed, "device lost").hint("plug it in");
        let record = fixture::record(2);
        let events = [
            Event::Snapshot(Box::new(Snapshot {
                run: Some(record.clone()),
                step: Some(1),
                samples: vec![fixture::sample(1, 1)],
                layout: Some((Bytes(1), Bytes(2))),
                queue: vec![record.summary()],
                ..Snapshot::default()
            })),
            Event::RunStarted { run: Box::new(record) },
            Event::Layout {
                run: run(),
                done: Bytes(1),
                total: Bytes(9),
                bw: BytesPerSecond(2.5),
                progress: 0.5,
                eta_ms: 1.0,
            },
            Event::Pause { run: run(), step: 1, left_ms: 2.5, progress: 0.5, eta_ms: 1.0 },
            Event::WorkloadStarted { run: run(), step: 1, label: "x".into() },
            Event::Sample { run: run(), sample: Box::new(fixture::sample(1, 3)) },
            Event::WorkloadFinished { run: run(), result: Box::new(fixture::result(1, 3.5)) },
            Event::RunFinished { run: run(), state: RunState::Failed, error: Some(error()) },
            Event::RunFinished { run: run(), state: RunState::Done, error: None },
            Event::Runs { queue: vec![], removed: Some(run()) },
            Event::Error { error: error() },
        ];
        for event in events {
            let text = serde_json::to_string(&Frame { seq: 7, event }).unwrap();
            let derived: Frame = serde_json::from_str(&text).unwrap();
            assert_eq!(read(&text).unwrap(), (derived.seq, derived.event), "{text}");
        }
    }

    #[test]
    fn what_is_no_frame_is_an_error() {
        for text in ["", "[]", "{}", r#"{"seq":1}"#, r#"{"seq":1,"type":"future"}"#, r#"{"seq":1,"type":"sample"}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
