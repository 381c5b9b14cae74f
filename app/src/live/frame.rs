//! Reads a frame of `/ws/bench`.
//!
//! The derived `Deserialize` of a frame compiles every type it can carry three times over: for the text, for the
//! buffer of the tagged enum, and for the flattened rest. That is a quarter of the whole page. Taken apart by hand,
//! every type is compiled once; the tests hold this reader to the derived one.

use super::experiment_frame;
use super::fields::Fields;
use protocol::event::{Event, Snapshot};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Number and event of a frame. An event that this page does not know tells nothing, but its number counts: left out
/// as if it had not come, it would look like a gap.
pub(crate) fn read(text: &str) -> serde_json::Result<(u64, Option<Event>)> {
    let mut frame: Map<String, Value> = serde_json::from_str(text)?;
    let f = &mut frame;
    let (seq, kind): (u64, String) = (take(f, "seq")?, take(f, "type")?);
    let event = match kind.as_str() {
        "snapshot" => Event::Snapshot(Box::new(snapshot(f)?)),
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
        other => return Ok((seq, experiment_frame::read(other, &mut Fields::new(frame)))),
    };
    Ok((seq, Some(event)))
}

fn snapshot(f: &mut Map<String, Value>) -> serde_json::Result<Snapshot> {
    Ok(Snapshot {
        version: take(f, "version")?,
        server_id: take(f, "server_id")?,
        run: take(f, "run")?,
        step: take(f, "step")?,
        samples: take(f, "samples")?,
        layout: take(f, "layout")?,
        queue: take(f, "queue")?,
        experiment: experiment_frame::live(Fields::of(f.remove("experiment").unwrap_or_default())).map(Box::new),
    })
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
    use crate::model::experiment_fixture::{live as experiment, trial};
    use crate::model::fixture;
    use protocol::error::{ErrorBody, ErrorCode};
    use protocol::event::Frame;
    use protocol::experiment::{Base, Effect, ExperimentLive, Finding, Metric, Stage, TimeLeft, TrialNow};
    use protocol::run::RunState;
    use protocol::units::{Bytes, BytesPerSecond};
    use protocol::workload::Wait;

    #[test]
    fn every_event_is_read_as_the_protocol_reads_it() {
        let run = || "r1".to_owned();
        let error = || ErrorBody::new(ErrorCode::RunFailed, "device lost").hint("plug it in");
        let record = fixture::record(2);
        let mut live = ExperimentLive { error: Some(error()), ..experiment() };
        live.head.configurations[1].wait = Some(Wait::Epoll);
        let now = live.trial.clone().unwrap();
        let effect = Effect {
            base: Some(Base::AllPerformance),
            stage: Some(Stage::Screening),
            metric: Metric::LatencyP999,
            saves_w: Some(6.1),
            more_blocks: Some(20),
            verdict: Finding::Helps,
            ..live.effects[0].clone()
        };
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
            Event::Snapshot(Box::new(Snapshot { experiment: Some(Box::new(live.clone())), ..Snapshot::default() })),
            Event::ExperimentStarted { experiment: Box::new(live.head.clone()), trials: live.trials.clone() },
            Event::ExperimentNote { experiment: run(), text: "waits".into() },
            Event::ExperimentPaused { experiment: run(), paused: true },
            Event::TrialStarted { experiment: run(), trial: TrialNow { stage: Some(Stage::Confirmation), ..now } },
            Event::TrialFinished { experiment: run(), trial: Box::new(trial(7, 1, 0, "idle", Some("drifted"))) },
            Event::BlockFinished {
                experiment: run(),
                blocks: 3,
                effects: vec![effect],
                left: TimeLeft { least_ms: 1.5, likely_ms: 2.5, most_ms: 3.0 },
                headline: "so far".into(),
            },
            Event::ExperimentFinished {
                experiment: run(),
                state: RunState::Failed,
                error: Some(error()),
                headline: String::new(),
            },
            Event::Experiments { removed: Some(run()) },
            Event::Experiments { removed: None },
        ];
        for event in events {
            let text = serde_json::to_string(&Frame { seq: 7, event }).unwrap();
            let derived: Frame = serde_json::from_str(&text).unwrap();
            assert_eq!(read(&text).unwrap(), (derived.seq, Some(derived.event)), "{text}");
        }
    }

    #[test]
    fn an_event_of_a_newer_server_says_nothing_but_counts() {
        assert_eq!(read(r#"{"seq":1,"type":"future","run":{}}"#).unwrap(), (1, None));
    }

    #[test]
    fn what_is_no_frame_is_an_error() {
        for text in ["", "[]", "{}", r#"{"seq":1}"#, r#"{"seq":1,"type":"sample"}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
