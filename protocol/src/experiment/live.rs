//! An experiment while it is on, as viewers see it.

use super::outcome::{Configuration, Effect, Stage, Trial};
use super::record::ExperimentRecord;
use super::spec::Design;
use crate::error::ErrorBody;
use crate::run::{RunId, RunState};
use serde::{Deserialize, Serialize};

/// The state of an experiment at one moment: what a viewer needs who has seen nothing of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExperimentLive {
    /// What is run.
    pub head: ExperimentHead,
    /// Running, or how it ended.
    pub state: RunState,
    /// Whether it pauses, with the settings put back meanwhile.
    pub paused: bool,
    /// Trials that have ended.
    pub trials: Vec<TrialMark>,
    /// The trial that is on.
    pub trial: Option<TrialNow>,
    /// Blocks that have ended.
    pub blocks: u32,
    /// Effects on the metrics that verdicts rest on, as known after the last block.
    pub effects: Vec<Effect>,
    /// Time still to come, as known after the last block.
    pub left: Option<TimeLeft>,
    /// What was said last: waiting, cooling down, left out.
    pub note: Option<String>,
    /// What is known so far, in a sentence.
    pub headline: String,
    /// What ended it before its time.
    pub error: Option<ErrorBody>,
}

/// What is run, without what only the judging needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExperimentHead {
    /// Its id.
    pub id: RunId,
    /// The user's name for it, else the design's.
    pub title: String,
    /// The design.
    pub design: Design,
    /// What is measured.
    pub target: String,
    /// Model of the drive under it.
    pub drive: Option<String>,
    /// Names of the workloads, in the order of a block.
    pub workloads: Vec<String>,
    /// The configurations; trials name them by their place here.
    pub configurations: Vec<Configuration>,
    /// Ids of the knobs that it changes, each with its title.
    pub knobs: Vec<(String, String)>,
    /// A cost in percent that matters.
    pub threshold_percent: f64,
    /// Blocks after which it ends, decided or not.
    pub max_blocks: u32,
    /// Seed of the random orders.
    pub seed: u64,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
}

/// A trial that has ended, as a cell of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrialMark {
    /// Position among all trials, from 0.
    pub number: u32,
    /// Block, from 0.
    pub block: u32,
    /// Index of the configuration.
    pub configuration: u32,
    /// Name of the workload.
    pub workload: String,
    /// Why it does not count, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
}

/// The trial that is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrialNow {
    /// Its block, from 0.
    pub block: u32,
    /// Its place in the block, from 0.
    pub place: u32,
    /// Trials of the block.
    pub of: u32,
    /// Index of the configuration in force.
    pub configuration: u32,
    /// Name of the workload.
    pub workload: String,
    /// What the trials are for, where the design has stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
}

/// Time that an experiment will still take, in ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TimeLeft {
    /// If what is undecided turns out clear.
    pub least_ms: f64,
    /// By the present estimates.
    pub likely_ms: f64,
    /// If it stays undecided to the end.
    pub most_ms: f64,
}

impl From<&ExperimentRecord> for ExperimentHead {
    fn from(record: &ExperimentRecord) -> Self {
        let spec = &record.spec;
        let title =
            |id: &str| record.knobs.iter().find(|k| k.id == id).map_or_else(|| id.to_owned(), |k| k.title.clone());
        Self {
            id: record.id.clone(),
            title: spec.title().to_owned(),
            design: spec.design,
            target: record.target.path.clone(),
            drive: record.drive.as_ref().and_then(|d| d.model.clone()),
            workloads: spec.expanded_workloads().iter().map(crate::workload::Workload::label).collect(),
            configurations: record.configurations.clone(),
            knobs: record.touched().into_iter().map(|id| (id.to_owned(), title(id))).collect(),
            threshold_percent: spec.threshold_percent,
            max_blocks: spec.max_blocks,
            seed: spec.seed.unwrap_or_default(),
            started_at: record.started_at.clone(),
        }
    }
}

impl From<&Trial> for TrialMark {
    fn from(trial: &Trial) -> Self {
        let Trial { number, block, configuration, workload, void, .. } = trial;
        let (number, block, configuration) = (*number, *block, *configuration);
        Self { number, block, configuration, workload: workload.clone(), void: void.clone() }
    }
}

impl ExperimentLive {
    /// An experiment that begins or goes on.
    pub fn new(head: ExperimentHead, trials: Vec<TrialMark>) -> Self {
        Self {
            head,
            state: RunState::Running,
            paused: false,
            trials,
            trial: None,
            blocks: 0,
            effects: Vec::new(),
            left: None,
            note: None,
            headline: String::new(),
            error: None,
        }
    }
}
