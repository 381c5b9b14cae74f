//! The one linear stream of a run. Whoever reads all of it knows all of it: WebSocket, command line and store
//! are consumers of the same events.

use crate::error::ErrorBody;
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
}

/// What a viewer may send on `/ws/bench`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClientMessage {
    /// Asks for a new snapshot.
    Resync,
}
