//! The stream of `/ws/power`, and the bodies of the knobs' HTTP interface.

use crate::error::ErrorBody;
use crate::knob::{Assignment, Knob, Lifetime, Outcome, RestoreReport};
use crate::telemetry::Telemetry;
use serde::{Deserialize, Serialize};

/// One frame on `/ws/power`: a text message holding one JSON object with `seq` and `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerFrame {
    /// Position in the stream; a gap means that frames were dropped and a new snapshot follows.
    pub seq: u64,
    /// The event; its `type` stands beside `seq`.
    #[serde(flatten)]
    pub event: PowerEvent,
}

/// What happens to the host's settings, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum PowerEvent {
    /// The state of everything; first on each connection, and after frames were dropped.
    Snapshot(Box<PowerState>),
    /// Knobs that differ from what was said last (values, writability, whose doing).
    Knobs {
        /// Each as it is now, whole.
        knobs: Vec<Knob>,
        /// Ids of knobs that are no more.
        removed: Vec<String>,
        /// Knobs changed by Brakecheck, now.
        changed: u32,
        /// Time until unconfirmed settings fall back in ms, while there are any.
        confirm_ms: Option<f64>,
    },
    /// One interval of telemetry.
    Telemetry(Box<Telemetry>),
    /// Somebody else changed what was ours.
    Drift {
        /// What changed.
        drifts: Vec<Drift>,
    },
    /// Settings were put back.
    Restored {
        /// By whom and how.
        report: RestoreReport,
    },
    /// Something went wrong that concerns everybody.
    Error {
        /// What.
        error: ErrorBody,
    },
}

/// A value that somebody else changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Drift {
    /// Which knob.
    pub id: String,
    /// What we had set.
    pub ours: String,
    /// What it is now; absent when it cannot be read any more.
    pub now: Option<String>,
}

/// Everything about the host's settings at one moment; also the answer of `GET /api/v1/knobs`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct PowerState {
    /// Every knob of the host, in the order of the path from platform to queue.
    pub knobs: Vec<Knob>,
    /// Knobs changed by Brakecheck, now.
    pub changed: u32,
    /// Time until unconfirmed settings fall back in ms, while there are any.
    pub confirm_ms: Option<f64>,
    /// Why nothing can be set here, if nothing can, and what to do.
    pub read_only: Option<String>,
    /// Daemons that change settings by themselves, and what to know of each.
    pub daemons: Vec<String>,
    /// What is wrong with the record of changed settings, and what to do.
    pub notes: Vec<String>,
    /// The newest telemetry, while somebody watches.
    pub telemetry: Option<Telemetry>,
}

/// Named assignments of all knobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Every writable knob at its saving value.
    Saving,
    /// Every writable knob at its performance value.
    Performance,
}

impl Profile {
    /// The value this profile gives a knob; none for what it leaves alone: what cannot be set, and what is risky.
    pub fn value_of(self, knob: &Knob) -> Option<&str> {
        let value = match self {
            Self::Saving => knob.saving_value.as_deref(),
            Self::Performance => knob.performance_value.as_deref(),
        };
        value.filter(|_| knob.writable && knob.risk.is_none())
    }

    /// What this profile asks for on a host.
    pub fn assignments(self, knobs: &[Knob]) -> Vec<Assignment> {
        let wish = |k: &Knob| Some(Assignment { id: k.id.clone(), value: self.value_of(k)?.to_owned() });
        knobs.iter().filter_map(wish).collect()
    }
}

/// `POST /api/v1/knobs`: settings one by one, or a profile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SetRequest {
    /// Knobs and values, set in the order that the host needs.
    pub set: Vec<Assignment>,
    /// Or a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Stays until `restore` or a reboot, rather than while the server lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Lifetime>,
    /// Takes the risk of risky knobs; they fall back unless `POST /api/v1/knobs/confirm` follows.
    pub risk: bool,
}

/// The answer to `POST /api/v1/knobs`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SetAnswer {
    /// What became of each wish.
    pub outcomes: Vec<Outcome>,
}

/// `POST /api/v1/restore`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RestoreRequest {
    /// Overwrites what somebody else has changed meanwhile, too.
    pub force: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_leave_alone_what_is_risky_or_cannot_be_set() {
        let knob = |id: &str, writable, risk: Option<&str>| Knob {
            id: id.into(),
            writable,
            risk: risk.map(Into::into),
            saving_value: Some("on".into()),
            ..Knob::default()
        };
        let knobs = [knob("a", true, None), knob("b", false, None), knob("c", true, Some("may lose the drive"))];
        let wanted = vec![Assignment { id: "a".into(), value: "on".into() }];
        assert_eq!(Profile::Saving.assignments(&knobs), wanted);
        assert_eq!(Profile::Performance.assignments(&knobs), []);
    }

    #[test]
    fn a_frame_has_its_type_beside_its_number() {
        let frame = PowerFrame { seq: 3, event: PowerEvent::Drift { drifts: vec![] } };
        assert_eq!(serde_json::to_string(&frame).unwrap(), r#"{"seq":3,"type":"drift","drifts":[]}"#);
    }
}
