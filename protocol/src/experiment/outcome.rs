//! The answer: what `--json` prints and the page draws.

use super::metric::Metric;
use super::spec::{Base, ExperimentSpec};
use crate::error::{ErrorBody, ErrorCode};
use crate::knob::Assignment;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Version of the stored form; a higher one was written by a newer program.
pub const FORMAT: u32 = 1;

/// Refuses what a newer program has written.
pub fn check_format(format: u32) -> Result<(), ErrorBody> {
    if format <= FORMAT {
        return Ok(());
    }
    let message = format!("this experiment is of version {format}; this program reads up to version {FORMAT}");
    Err(ErrorBody::new(ErrorCode::Usage, message).hint("Update Brakecheck."))
}

/// What is concluded of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The saving value costs more than the threshold: the whole interval says so.
    Brake,
    /// It changes no more than the threshold either way: the whole interval says so.
    Free,
    /// It gains more than the threshold: the whole interval says so.
    Helps,
    /// The interval reaches across the threshold.
    Undecided,
}

impl Finding {
    /// The word for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Brake => "brake",
            Self::Free => "free",
            Self::Helps => "helps",
            Self::Undecided => "undecided",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What trials are for, in a design that has stages. Each stage rests on trials of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Each knob alone, to see which of them can be a brake at all.
    Screening,
    /// What looked like one, measured anew.
    Confirmation,
}

/// What one change did to one metric of one workload.
///
/// Percentages are of performance: of the metric where more is better, of its reciprocal otherwise (a latency that
/// doubles is -50 %). So a cost is negative for every metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Effect {
    /// The knob, or the rung, profile, or wait mode, in question.
    pub knob: String,
    /// The value compared with: the one for performance.
    pub from: String,
    /// The value in question: the one that saves.
    pub to: String,
    /// What the other knobs were at; absent where the design leaves no choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// The stage whose trials it rests on, where the design has stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// Name of the workload.
    pub workload: String,
    /// The metric.
    pub metric: Metric,
    /// Whether the workload's verdict rests on this metric.
    pub primary: bool,
    /// Change in percent; absent before the first block has ended.
    pub estimate_percent: Option<f64>,
    /// Lower end of the interval; absent while there are too few blocks for one.
    pub low_percent: Option<f64>,
    /// Upper end of the interval.
    pub high_percent: Option<f64>,
    /// What is concluded.
    pub verdict: Finding,
    /// Blocks it rests on.
    pub blocks: u32,
    /// Power in W that the value in question saves at idle; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saves_w: Option<f64>,
    /// While undecided: how many more blocks it would take, about; absent where nobody can say yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_blocks: Option<u32>,
    /// In words.
    pub sentence: String,
}

/// How much the effect of one knob depends on another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Interaction {
    /// The two knobs; in a fraction of a factorial every pair that cannot be told apart from the first.
    pub knobs: Vec<[String; 2]>,
    /// Name of the workload.
    pub workload: String,
    /// The metric.
    pub metric: Metric,
    /// Both saving, over what their separate effects would give together, in percent.
    pub estimate_percent: Option<f64>,
    /// Lower end of the interval.
    pub low_percent: Option<f64>,
    /// Upper end of the interval.
    pub high_percent: Option<f64>,
    /// Whether it is beyond the threshold, beyond doubt.
    pub matters: bool,
    /// In words, if it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
}

/// A full assignment of the knobs of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Configuration {
    /// Its name in tables: "all-saving", "cpu.turbo=off", a rung's name.
    pub name: String,
    /// Every knob of the experiment with its value.
    pub set: Vec<Assignment>,
    /// How the program waits, where that is the question; else as the workload says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<crate::workload::Wait>,
}

/// A setting in the design that this host has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Unmapped {
    /// As the source calls it: "Virtualization Technology".
    pub setting: String,
    /// Why there is no counterpart here.
    pub reason: String,
}

/// One workload run once under one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Trial {
    /// Position among all trials of the experiment, in the order they ran; from 0.
    pub number: u32,
    /// Block, from 0.
    pub block: u32,
    /// Index of the configuration.
    pub configuration: u32,
    /// Name of the workload.
    pub workload: String,
    /// What it yielded.
    pub metrics: BTreeMap<Metric, f64>,
    /// Latency as `[percentile, ns]`, ascending: of the reads, where a workload does both. To be drawn, not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency: Vec<(f64, Nanos)>,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// Why it does not count, if so; it was repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
}

/// A trial that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VoidTrial {
    /// Number of the trial.
    pub trial: u32,
    /// Why: "cpu.turbo was changed by somebody else".
    pub reason: String,
}

/// What a machine is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// Single accesses answered fast.
    Latency,
    /// Much data, many accesses at once.
    Throughput,
    /// As little power as possible.
    Battery,
}

impl Use {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Latency, Self::Throughput, Self::Battery];

    /// The word in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
            Self::Battery => "battery",
        }
    }
}

/// What to do with a knob.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Recommendation {
    /// Which knob.
    pub knob: String,
    /// For whom.
    #[serde(rename = "use")]
    pub purpose: Use,
    /// The value to take; absent where nothing can be recommended yet.
    pub value: Option<String>,
    /// Whether that keeps the saving on.
    pub keep_saving: Option<bool>,
    /// Why, with the measured cost.
    pub sentence: String,
}

/// Everything that is known of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExperimentReport {
    /// Version of this form, [`FORMAT`].
    pub format: u32,
    /// What was asked for, with the seed that was used.
    pub spec: ExperimentSpec,
    /// The configurations, in the order of their indices.
    pub configurations: Vec<Configuration>,
    /// What could not be mapped to this host.
    #[serde(default)]
    pub unmapped: Vec<Unmapped>,
    /// The verdict on the whole, in words.
    pub headline: String,
    /// What each change did.
    pub effects: Vec<Effect>,
    /// What knobs do together.
    #[serde(default)]
    pub interactions: Vec<Interaction>,
    /// What to do.
    pub recommendation: Vec<Recommendation>,
    /// Every trial, void ones included.
    pub trials: Vec<Trial>,
    /// Trials that do not count.
    pub void: Vec<VoidTrial>,
}
