//! The one linear stream of a run. Whoever reads all of it knows all of it: WebSocket, command line and store
//! are consumers of the same events.

use crate::error::ErrorBody;
use crate::experiment::{Effect, ExperimentHead, ExperimentLive, TimeLeft, Trial, TrialMark, TrialNow};
use crate::result::StepResult;
use crate::run::{RunId, RunRecord, RunState, RunSummary};
use crate::sample::Sample;
use crate::units::{Bytes, BytesPerSecond};
use serde::{Deserialize, Serialize};

/// One frame on `/ws/bench`: a text message holding one JSON object with `seq` and `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Position in the stream; a gap means that frames were dropped and a new snapshot follows.
    pub seq: u64,
    /// The event; its `type` stands beside `seq`.
    #[serde(flatten)]
    pub event: Event,
}

/// What happens, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Event {
    /// The state of everything; first on each connection, and after frames were dropped.
    Snapshot(Box<Snapshot>),
    /// A run begins.
    RunStarted {
        /// The run, without results yet.
        run: Box<RunRecord>,
    },
    /// The file is being laid out; 20 times a second until done.
    Layout {
        /// Which run.
        run: RunId,
        /// Written so far.
        done: Bytes,
        /// To be written.
        total: Bytes,
        /// Speed over the last interval.
        bw: BytesPerSecond,
        /// Share of the whole run that is done, 0 to 1.
        progress: f64,
        /// Time to the end of the run in ms.
        eta_ms: f64,
    },
    /// The idle time before a step; several times a second until it is over.
    Pause {
        /// Which run.
        run: RunId,
        /// Index of the step that comes next.
        step: u32,
        /// Time until it begins, in ms.
        left_ms: f64,
        /// Share of the whole run that is done, 0 to 1.
        progress: f64,
        /// Time to the end of the run in ms.
        eta_ms: f64,
    },
    /// A step begins.
    WorkloadStarted {
        /// Which run.
        run: RunId,
        /// Index of the step in the plan.
        step: u32,
        /// Its label.
        label: String,
    },
    /// One interval of the running step.
    Sample {
        /// Which run.
        run: RunId,
        /// The interval.
        #[serde(flatten)]
        sample: Box<Sample>,
    },
    /// A step ended.
    WorkloadFinished {
        /// Which run.
        run: RunId,
        /// What it measured.
        result: Box<StepResult>,
    },
    /// A run ended.
    RunFinished {
        /// Which run.
        run: RunId,
        /// How.
        state: RunState,
        /// Why, if it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ErrorBody>,
    },
    /// The list of runs or the queue changed (queued, removed).
    Runs {
        /// Runs that wait, first first.
        queue: Vec<RunSummary>,
        /// A run that was removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        removed: Option<RunId>,
    },
    /// An experiment begins, or goes on. Until it ends, `layout` and `sample` carry its id for that of a run.
    ExperimentStarted {
        /// What is run.
        experiment: Box<ExperimentHead>,
        /// Trials that had ended before.
        trials: Vec<TrialMark>,
    },
    /// Something that whoever watches an experiment ought to know: it waits, cools down, leaves something out.
    ExperimentNote {
        /// Which experiment.
        experiment: RunId,
        /// In words.
        text: String,
    },
    /// An experiment pauses, with the settings put back meanwhile, or goes on after that.
    ExperimentPaused {
        /// Which experiment.
        experiment: RunId,
        /// Whether it pauses.
        paused: bool,
    },
    /// A trial begins: the settings are in force, and its samples follow.
    TrialStarted {
        /// Which experiment.
        experiment: RunId,
        /// The trial.
        trial: TrialNow,
    },
    /// A trial has ended and is stored.
    TrialFinished {
        /// Which experiment.
        experiment: RunId,
        /// The trial.
        trial: Box<Trial>,
    },
    /// A block has ended: what is known now.
    BlockFinished {
        /// Which experiment.
        experiment: RunId,
        /// Blocks that have ended.
        blocks: u32,
        /// Effects on the metrics that verdicts rest on.
        effects: Vec<Effect>,
        /// Time still to come.
        left: TimeLeft,
        /// What is known so far, in a sentence.
        headline: String,
    },
    /// An experiment has ended and the settings are back, or `error` says what is not.
    ExperimentFinished {
        /// Which experiment.
        experiment: RunId,
        /// How.
        state: RunState,
        /// Why, if it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ErrorBody>,
        /// What was found, in a sentence.
        headline: String,
    },
    /// The list of stored experiments changed: one was removed, or brought here as a file.
    Experiments {
        /// The one that was removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        removed: Option<RunId>,
    },
    /// Something this viewer sent was not understood, or something went wrong outside a run.
    Error {
        /// What.
        error: ErrorBody,
    },
}

/// The state of everything at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Snapshot {
    /// Version of the server; a page built for another reloads itself.
    pub version: String,
    /// Random per start of the server, so that a page knows a restart.
    pub server_id: String,
    /// The run that is on, else the last one that ended since the server started.
    pub run: Option<RunRecord>,
    /// Index of the step that is on.
    pub step: Option<u32>,
    /// The running step's samples so far, oldest first (at most the last two minutes). Without histograms, unless
    /// reads and writes are mixed.
    pub samples: Vec<Sample>,
    /// The layout that is on, as the last `layout` event gave it: done, total.
    pub layout: Option<(Bytes, Bytes)>,
    /// Runs that wait, first first.
    pub queue: Vec<RunSummary>,
    /// The experiment that is on, else the last one that ended since the server started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Box<ExperimentLive>>,
}

/// What a viewer may send on `/ws/bench`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClientMessage {
    /// Asks for a new snapshot.
    Resync,
}
