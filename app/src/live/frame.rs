//! Reads a frame of `/ws/bench`.

use crate::read::{Problem, Read, field};
use protocol::event::Event;
use serde_json::Value;

/// Number and event of a frame. An event that this page does not know tells nothing, but its number counts: left out
/// as if it had not come, it would look like a gap.
pub(crate) fn read(text: &str) -> Result<(u64, Option<Event>), String> {
    let frame: Frame = crate::read::text(text)?;
    Ok((frame.seq, frame.event))
}

struct Frame {
    seq: u64,
    event: Option<Event>,
}

impl Read for Frame {
    fn read(frame: &Value, problem: &mut Problem) -> Self {
        let (seq, kind): (u64, String) = (field(frame, "seq", problem), field(frame, "type", problem));
        Self { seq, event: event(&kind, frame, problem) }
    }
}

fn event(kind: &str, frame: &Value, problem: &mut Problem) -> Option<Event> {
    /// The event's fields, each of which may be of any type.
    macro_rules! event {
        ($event:ident { $($name:ident),+ }) => { Event::$event { $($name: field(frame, stringify!($name), problem)),+ } };
    }
    Some(match kind {
        "snapshot" => Event::Snapshot(Read::read(frame, problem)),
        "run-started" => event!(RunStarted { run }),
        "layout" => event!(Layout { run, done, total, bw, progress, eta_ms }),
        "pause" => event!(Pause { run, step, left_ms, progress, eta_ms }),
        "workload-started" => event!(WorkloadStarted { run, step, label }),
        "sample" => Event::Sample { run: field(frame, "run", problem), sample: Read::read(frame, problem) },
        "workload-finished" => event!(WorkloadFinished { run, result }),
        "run-finished" => event!(RunFinished { run, state, error }),
        "runs" => event!(Runs { queue, removed }),
        "experiment-started" => event!(ExperimentStarted { experiment, trials }),
        "experiment-note" => event!(ExperimentNote { experiment, text }),
        "experiment-paused" => event!(ExperimentPaused { experiment, paused }),
        "trial-started" => event!(TrialStarted { experiment, trial }),
        "trial-finished" => event!(TrialFinished { experiment, trial }),
        "block-finished" => event!(BlockFinished { experiment, blocks, effects, left, headline }),
        "experiment-finished" => event!(ExperimentFinished { experiment, state, error, headline }),
        "experiments" => event!(Experiments { removed }),
        "error" => event!(Error { error }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::experiment_fixture::{live as experiment, trial};
    use crate::model::fixture;
    use protocol::error::{ErrorBody, ErrorCode};
    use protocol::event::{Frame, Snapshot};
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
