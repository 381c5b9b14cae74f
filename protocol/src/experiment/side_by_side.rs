//! Experiments of several drives or hosts side by side: what `experiment compare` prints and the page shows.

use super::metric::Metric;
use super::outcome::{Finding, Stage};
use super::spec::{Base, Design};
use crate::host::Link;
use crate::run::{RunId, RunState};
use crate::telemetry::LinkSample;
use serde::{Deserialize, Serialize};

/// The comparison. Every row has as many cells as there are sides, in their order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SideBySide {
    /// The experiments.
    pub sides: Vec<Side>,
    /// Conditions that differ; what forbids a comparison comes first.
    pub differences: Vec<Difference>,
    /// Speeds, workload by workload.
    pub speeds: Vec<SpeedRow>,
    /// Effects, knob by knob; those that verdicts rest on come first.
    pub effects: Vec<EffectRow>,
}

/// One experiment of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Side {
    /// Its id.
    pub id: RunId,
    /// The user's name for it, else the design's.
    pub title: String,
    /// The design.
    pub design: Design,
    /// Where it stands.
    pub state: RunState,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// Name of the machine.
    pub host: Option<String>,
    /// Model of the drive.
    pub drive: Option<String>,
    /// What was measured.
    pub target: String,
    /// Whether it was run elsewhere.
    pub imported: bool,
    /// Trials, void ones included.
    pub trials: u32,
    /// What was found, in a sentence.
    pub headline: String,
    /// The drive's link, negotiated and possible, with the ceiling of the narrowest part of the path.
    pub link: Option<Link>,
    /// Both ends of each PCI Express link from the drive up to the root, the drive's own first.
    pub path: Vec<LinkSample>,
}

/// A condition that is not the same on all sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Difference {
    /// Which: "link", "kernel", "cpu.governor".
    pub what: String,
    /// What it is on each side; absent where it is not known.
    pub values: Vec<Option<String>>,
    /// Whether speeds must not be compared because of it.
    pub forbids: bool,
    /// In words: "link: PCIe 3.0 x2 against PCIe 3.0 x4".
    pub sentence: String,
}

/// The speed of one workload under one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpeedRow {
    /// Name of the workload.
    pub workload: String,
    /// Name of the configuration; absent in the row of the fastest one of each side, which is there where no
    /// configuration goes by the same name.
    pub configuration: Option<String>,
    /// One for each side; absent where it was not measured.
    pub cells: Vec<Option<SpeedCell>>,
}

/// A measured speed. Each number is the median over the trials that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SpeedCell {
    /// Name of the configuration.
    pub configuration: String,
    /// Trials that count.
    pub n: u32,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// Accesses per second.
    pub iops: Option<f64>,
    /// Mean latency in ns.
    pub latency_ns: Option<f64>,
    /// Share of the ceiling of the drive's path, 0 to 1; absent where there is no link or its ceiling is not known.
    pub share: Option<f64>,
    /// CPU time of the workers in percent of one CPU.
    pub cpu_percent: Option<f64>,
    /// Performance on the metric of the workload's verdicts against that of the first side, in percent, with its 95 %
    /// interval; absent on the first side, and where comparing is forbidden.
    pub against_first: Option<Change>,
}

/// A change with its interval, in percent of performance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Change {
    /// The estimate.
    pub estimate_percent: f64,
    /// Lower end of the interval; absent where there are too few trials for one.
    pub low_percent: Option<f64>,
    /// Upper end of the interval.
    pub high_percent: Option<f64>,
}

/// The effect of one knob on one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EffectRow {
    /// The knob; without its device, where the drives of the sides are called differently.
    pub knob: String,
    /// What the other knobs were at.
    pub base: Option<Base>,
    /// The stage.
    pub stage: Option<Stage>,
    /// Name of the workload.
    pub workload: String,
    /// The metric.
    pub metric: Metric,
    /// Whether verdicts rest on this metric.
    pub primary: bool,
    /// One for each side; absent where it was not measured.
    pub cells: Vec<Option<EffectCell>>,
}

/// An effect on one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EffectCell {
    /// The knob as that host calls it.
    pub knob: String,
    /// The value compared with.
    pub from: String,
    /// The value in question.
    pub to: String,
    /// Change in percent.
    pub estimate_percent: Option<f64>,
    /// Lower end of the interval.
    pub low_percent: Option<f64>,
    /// Upper end of the interval.
    pub high_percent: Option<f64>,
    /// What is concluded.
    pub verdict: Finding,
    /// Blocks it rests on.
    pub blocks: u32,
    /// Power in W that it saves at idle.
    pub saves_w: Option<f64>,
    /// The ratio of performances that it leaves against that on the first side, in percent: negative where it costs more
    /// here. Its interval is as wide as both together, so it holds whenever they do.
    pub against_first: Option<Change>,
}
