//! Bodies of the HTTP interface under `/api/v1/experiments`.

use super::outcome::{Configuration, Unmapped};
use super::spec::{Base, Design, ExperimentSpec};
use crate::error::ErrorBody;
use crate::run::{RunId, RunState};
use serde::{Deserialize, Serialize};

/// `POST /api/v1/experiments/plan`: what an experiment would do here, before anything is touched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanPreview {
    /// What was asked for, with everything that was left open filled in: knobs, workloads.
    pub spec: ExperimentSpec,
    /// The same as a file.
    pub toml: String,
    /// The question, in plain words.
    pub question: String,
    /// The knobs that are changed.
    pub changes: Vec<PlannedKnob>,
    /// The configurations that are run.
    pub configurations: Vec<Configuration>,
    /// What is compared with what.
    pub comparisons: Vec<PlannedComparison>,
    /// Names of the workloads.
    pub workloads: Vec<String>,
    /// Settings that the design asks for and this host has not.
    pub unmapped: Vec<Unmapped>,
    /// Trials in a whole block.
    pub trials_per_block: u32,
    /// Time of one whole block in s.
    pub block_seconds: f64,
    /// Time in s if everything is clear after the fewest blocks that can tell.
    pub least_seconds: f64,
    /// Time in s if it goes on to its last block.
    pub most_seconds: f64,
    /// Things to know: what is at risk, what is not measured here.
    pub notes: Vec<String>,
    /// Why it cannot be started now, if so.
    pub refused: Option<ErrorBody>,
}

/// `POST /api/v1/experiments/read`: the text of an experiment file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ExperimentText {
    /// The text, TOML.
    pub toml: String,
}

/// A knob that an experiment changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlannedKnob {
    /// Its id.
    pub id: String,
    /// The name people know.
    pub title: String,
    /// Its value now; none while an experiment is on that sets it.
    pub now: Option<String>,
    /// The values it will have.
    pub values: Vec<String>,
    /// What may go wrong, where something may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
}

/// What is compared with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlannedComparison {
    /// The knob, rung, profile, or wait mode in question.
    pub knob: String,
    /// The value compared with.
    pub from: String,
    /// The value in question.
    pub to: String,
    /// What the other knobs are at, where the design has a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
}

/// `GET /api/v1/experiments`: one line of the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExperimentSummary {
    /// Its id.
    pub id: RunId,
    /// Where it stands.
    pub state: RunState,
    /// The user's name for it, else the design's.
    pub title: String,
    /// The design.
    pub design: Design,
    /// What was measured.
    pub target: String,
    /// Model of the drive.
    pub drive: Option<String>,
    /// Name of the machine.
    pub host: Option<String>,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// End, RFC 3339, UTC.
    pub finished_at: Option<String>,
    /// Why it ended before its time.
    pub error: Option<ErrorBody>,
    /// Trials so far, void ones included.
    pub trials: u32,
    /// What was found, in a sentence; absent where it cannot be judged here any more.
    pub headline: Option<String>,
    /// Whether it was run elsewhere.
    pub imported: bool,
}

/// `POST /api/v1/experiments/import`: an experiment that was brought here as a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Imported {
    /// Its id here.
    pub id: RunId,
    /// Whether it was here already, so that nothing was stored.
    pub known: bool,
    /// Things to know: another id than in the file, conclusions that its trials do not bear out.
    pub notes: Vec<String>,
}
