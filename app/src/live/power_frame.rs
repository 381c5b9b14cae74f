//! Reads a frame of `/ws/power`.

use crate::read::{Problem, Read, field};
use protocol::power::PowerEvent;
use serde_json::Value;

/// Number and event of a frame.
pub(crate) fn read(text: &str) -> Result<(u64, PowerEvent), String> {
    let frame: Frame = crate::read::text(text)?;
    Ok((frame.seq, frame.event))
}

struct Frame {
    seq: u64,
    event: PowerEvent,
}

impl Read for Frame {
    fn read(frame: &Value, problem: &mut Problem) -> Self {
        let (seq, kind): (u64, String) = (field(frame, "seq", problem), field(frame, "type", problem));
        Self { seq, event: event(&kind, frame, problem) }
    }
}

fn event(kind: &str, frame: &Value, problem: &mut Problem) -> PowerEvent {
    match kind {
        "snapshot" => PowerEvent::Snapshot(Read::read(frame, problem)),
        "knobs" => PowerEvent::Knobs {
            knobs: field(frame, "knobs", problem),
            removed: field(frame, "removed", problem),
            changed: field(frame, "changed", problem),
            confirm_ms: field(frame, "confirm_ms", problem),
        },
        "telemetry" => PowerEvent::Telemetry(Read::read(frame, problem)),
        "drift" => PowerEvent::Drift { drifts: field(frame, "drifts", problem) },
        "restored" => PowerEvent::Restored { report: field(frame, "report", problem) },
        // What is no event lacks its error, which is noted.
        _ => PowerEvent::Error { error: field(frame, "error", problem) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::settings_fixture::{knob, report, telemetry};
    use protocol::error::{ErrorBody, ErrorCode};
    use protocol::knob::{Group, Knob, Lifetime, Origin};
    use protocol::power::{Drift, PowerFrame, PowerState};

    #[test]
    fn every_event_is_read_as_the_protocol_reads_it() {
        let kept = Knob {
            group: Some(Group::Link),
            origin: Origin::Ours,
            original: Some("on".into()),
            lifetime: Some(Lifetime::For { seconds: 600 }),
            risk: Some("the drive may vanish".into()),
            ..knob("sata.link-power@host0", "medium_power", &["max_performance", "medium_power"])
        };
        let unconfirmed = Knob { lifetime: Some(Lifetime::Unconfirmed), ..kept.clone() };
        let state = PowerState {
            knobs: vec![kept.clone(), Knob::default()],
            changed: 1,
            confirm_ms: Some(1500.5),
            read_only: Some("needs root".into()),
            daemons: vec!["tuned".into()],
            notes: vec![],
            telemetry: Some(telemetry(200.0)),
        };
        let drift = |now: Option<&str>| Drift { id: "a".into(), ours: "off".into(), now: now.map(Into::into) };
        let events = [
            PowerEvent::Snapshot(Box::new(state)),
            PowerEvent::Snapshot(Box::default()),
            PowerEvent::Knobs {
                knobs: vec![kept, unconfirmed],
                removed: vec!["b".into()],
                changed: 2,
                confirm_ms: None,
            },
            PowerEvent::Knobs { knobs: vec![], removed: vec![], changed: 0, confirm_ms: Some(14_999.0) },
            PowerEvent::Telemetry(Box::new(telemetry(400.0))),
            PowerEvent::Telemetry(Box::default()),
            PowerEvent::Drift { drifts: vec![drift(Some("on")), drift(None)] },
            PowerEvent::Restored { report: report() },
            PowerEvent::Error { error: ErrorBody::new(ErrorCode::Internal, "the broker is gone").hint("restart") },
        ];
        for event in events {
            let text = serde_json::to_string(&PowerFrame { seq: 7, event }).unwrap();
            let derived: PowerFrame = serde_json::from_str(&text).unwrap();
            assert_eq!(read(&text).unwrap(), (derived.seq, derived.event), "{text}");
        }
    }

    #[test]
    fn what_is_no_frame_is_an_error() {
        for text in ["", "[]", "{}", r#"{"seq":1}"#, r#"{"seq":1,"type":"future"}"#, r#"{"seq":1,"type":"knobs"}"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
