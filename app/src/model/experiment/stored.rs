//! A stored experiment: of its file only what is shown beside the server's report.

use crate::read;
use protocol::error::ErrorBody;
use protocol::knob::{Assignment, Knob};
use protocol::run::RunState;
use serde_json::Value;

/// What an experiment's settings may be chosen for, as the server names it and as people say it.
pub(crate) const USES: [(&str, &str); 3] =
    [("latency", "Latency"), ("throughput", "Throughput"), ("battery", "Battery")];

/// An experiment that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    /// The user's name for it, else the design's.
    pub(crate) title: String,
    /// What was measured.
    pub(crate) target: String,
    /// Start, RFC 3339, UTC.
    pub(crate) started_at: String,
    /// How it ended.
    pub(crate) state: RunState,
    /// Why it ended before its time.
    pub(crate) error: Option<ErrorBody>,
    /// It was run elsewhere.
    pub(crate) imported: bool,
    /// What to set for which use.
    advice: Vec<(String, Assignment)>,
}

impl Stored {
    /// Reads an experiment's file.
    pub(crate) fn of(file: &Value) -> Self {
        let within = |value: &Value, name: &str| value.get(name).cloned().unwrap_or_default();
        let words = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let text = |value: &Value, name: &str| words(value, name).unwrap_or_default();
        let (record, advice) = (within(file, "experiment"), within(file, "recommendation"));
        let spec = within(&record, "spec");
        let advice = advice.as_array().into_iter().flatten().filter_map(|one| {
            let value = words(one, "value")?;
            Some((text(one, "use"), Assignment { id: text(one, "knob"), value }))
        });
        Self {
            title: words(&spec, "name").unwrap_or_else(|| text(&spec, "design")),
            target: text(&within(&record, "target"), "path"),
            started_at: text(&record, "started_at"),
            state: read::value(&within(file, "state")).unwrap_or(RunState::Failed),
            error: read::value(&within(file, "error")).unwrap_or_default(),
            imported: within(&record, "imported") == Value::Bool(true),
            advice: advice.collect(),
        }
    }

    /// Whether it can go on.
    pub(crate) fn resumable(&self) -> bool {
        !self.imported && self.state.ended() && self.state != RunState::Done
    }

    /// Whether something can be recommended at all.
    pub(crate) fn has_advice(&self) -> bool {
        !self.advice.is_empty()
    }

    /// What is recommended for a use and is not so now; of this host's settings those that can be set without a risk.
    pub(crate) fn wishes(&self, purpose: &str, knobs: &[Knob]) -> Vec<Assignment> {
        let to_set = |a: &Assignment| {
            let knob = knobs.iter().find(|k| k.id == a.id);
            knob.is_some_and(|k| k.writable && k.risk.is_none() && k.value.as_ref() != Some(&a.value))
        };
        let wanted = self.advice.iter().filter(|(of, a)| of == purpose && to_set(a));
        wanted.map(|(_, a)| a.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_says_what_it_was_and_what_to_set() {
        let advice = |knob: &str, of: &str, value: Value| json!({ "knob": knob, "use": of, "value": value, "keep_saving": false, "sentence": "" });
        let stored = Stored::of(&json!({
            "experiment": {
                "spec": { "design": "check" }, "target": { "path": "/mnt" }, "started_at": "2026-11-30T10:15:00Z"
            },
            "state": "stopped",
            "recommendation": [
                advice("cpu.turbo", "latency", "on".into()),
                advice("cpu.turbo", "battery", "off".into()),
                advice("cpu.epb", "latency", Value::Null),
                advice("cpu.smt", "latency", "off".into()),
                advice("not.here", "latency", "off".into()),
            ],
        }));
        assert_eq!((stored.title.as_str(), stored.target.as_str(), stored.imported), ("check", "/mnt", false));
        assert!(stored.resumable() && stored.has_advice());
        let knob = |id: &str, value: &str, writable| Knob {
            id: id.into(),
            value: Some(value.into()),
            writable,
            ..Knob::default()
        };
        let knobs = [knob("cpu.turbo", "off", true), knob("cpu.smt", "on", false)];
        let wished = |of| stored.wishes(of, &knobs).into_iter().map(|a| (a.id, a.value)).collect::<Vec<_>>();
        assert_eq!(wished("latency"), [("cpu.turbo".into(), "on".into())]);
        assert_eq!(wished("battery"), []);
    }

    #[test]
    fn what_is_no_file_shows_nothing() {
        let stored = Stored::of(&json!([1]));
        assert!(!stored.has_advice() && stored.state == RunState::Failed);
    }
}
