//! A run: its state while it lives, and its record afterwards.

use crate::error::ErrorBody;
use crate::host::{DriveFacts, EngineFacts, HostFacts, TargetFacts};
use crate::plan::RunSpec;
use crate::preset::{Cell, score};
use crate::result::StepResult;
use crate::units::{BytesPerSecond, Iops};
use serde::{Deserialize, Serialize};

/// Id of a run: sortable by time, safe in URLs and file names.
pub type RunId = String;

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Waits for another run to end.
    Queued,
    /// On.
    Running,
    /// Ended by itself.
    Done,
    /// Ended by the user; what was measured so far is kept.
    Stopped,
    /// Ended by an error.
    Failed,
    /// The program died during the run; found at the next start.
    Interrupted,
}

impl RunState {
    /// Whether nothing more will come.
    pub fn ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
    /// The word for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Everything about a run that is needed to judge it. Samples are stored beside it, not in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunRecord {
    /// Its id.
    pub id: RunId,
    /// Version of the program that made it.
    pub version: String,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// End, RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// Where it stands.
    pub state: RunState,
    /// What was asked for, with every step.
    pub spec: RunSpec,
    /// The machine.
    pub host: HostFacts,
    /// The target.
    pub target: TargetFacts,
    /// The drive under it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveFacts>,
    /// The engine.
    pub engine: EngineFacts,
    /// Results so far, in step order.
    pub results: Vec<StepResult>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

impl RunRecord {
    /// The preset's grid with what is known so far; empty for custom workloads.
    pub fn cells(&self) -> Vec<Cell> {
        score(&self.spec, &self.results)
    }

    /// The line of a list of runs.
    pub fn summary(&self) -> RunSummary {
        let best = self.results.iter().max_by(|a, b| a.bw().0.total_cmp(&b.bw().0));
        RunSummary {
            id: self.id.clone(),
            started_at: self.started_at.clone(),
            state: self.state,
            title: self.spec.title(),
            target: self.spec.target.clone(),
            drive: self.drive.as_ref().map(|d| d.model.clone().unwrap_or_else(|| d.name.clone())),
            host: self.host.hostname.clone(),
            headline: best.and_then(|r| {
                let step = self.spec.steps.get(r.step as usize)?;
                Some(Headline {
                    label: step.workload.label(),
                    bw: r.bw(),
                    iops: r.iops(),
                    not_comparable: r.not_comparable().map(Into::into),
                })
            }),
        }
    }
}

/// The line of a list of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunSummary {
    /// Its id.
    pub id: RunId,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// Where it stands.
    pub state: RunState,
    /// What it is.
    pub title: String,
    /// Target as given.
    pub target: String,
    /// Drive model or kernel name.
    pub drive: Option<String>,
    /// Host name.
    pub host: Option<String>,
    /// The one number: the step with the highest throughput.
    pub headline: Option<Headline>,
}

/// The one number of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Headline {
    /// Which workload.
    pub label: String,
    /// Its throughput.
    pub bw: BytesPerSecond,
    /// Its accesses per second.
    pub iops: Iops,
    /// Why it must not be compared, if so.
    pub not_comparable: Option<String>,
}
