//! What a run will do, step by step, worked out before it starts.

use crate::preset::{CellKey, PresetRequest};
use crate::units::{Bytes, Seconds};
use crate::workload::{DEFAULT_SIZE, Workload};
use serde::{Deserialize, Serialize};

/// What the user asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunSpec {
    /// Directory (a file of our own is laid out there), existing file, or block device.
    pub target: String,
    /// The preset asked for, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<PresetRequest>,
    /// Leave the laid-out file for the next run in the same directory.
    #[serde(default)]
    pub keep_file: bool,
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// One workload, run once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Step {
    /// The cell of the preset's grid it counts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellKey>,
    /// 1-based repetition within its cell (or of its workload).
    pub repetition: u32,
    /// Run, kept and shown, but left out of the score, as `CrystalDiskMark` does with each test's first pass.
    #[serde(default)]
    pub warmup: bool,
    /// Idle time before the step.
    #[serde(default)]
    pub pause: Seconds,
    /// The access pattern.
    pub workload: Workload,
}

impl RunSpec {
    /// A run of these workloads, `repetitions` times each, in order (all workloads, then again).
    pub fn of_workloads(target: impl Into<String>, workloads: &[Workload], repetitions: u32) -> Self {
        let step = |repetition, w: &Workload| Step {
            cell: None,
            repetition,
            warmup: false,
            pause: Seconds::default(),
            workload: w.clone(),
        };
        let steps = (1..=repetitions).flat_map(|r| workloads.iter().map(move |w| step(r, w))).collect();
        Self { target: target.into(), preset: None, keep_file: false, steps }
    }

    /// Length that a file of our own needs so that every step fits.
    pub fn file_size(&self) -> Bytes {
        let end = |s: &Step| s.workload.offset.0.saturating_add(s.workload.size.unwrap_or(DEFAULT_SIZE).0);
        Bytes(self.steps.iter().map(end).max().unwrap_or(0))
    }

    /// Whether any step writes to the target.
    pub fn writes(&self) -> bool {
        self.steps.iter().any(|s| s.workload.rw.writes())
    }

    /// Time the steps and their pauses take, without laying out the file.
    pub fn duration(&self) -> Seconds {
        Seconds(crate::units::Micros(self.steps.iter().map(|s| s.pause.0.0 + s.workload.duration().0.0).sum()))
    }

    /// A short title: the preset's, or the workload's label (and how many more there are).
    pub fn title(&self) -> String {
        if let Some(preset) = &self.preset {
            return preset.definition().map_or_else(|| preset.name.clone(), |d| d.title.to_owned());
        }
        match self.steps.as_slice() {
            [] => "nothing".into(),
            [one] => one.workload.label(),
            [first, rest @ ..] if rest.iter().all(|s| s.workload == first.workload) => {
                format!("{} x {}", first.workload.label(), self.steps.len())
            }
            [first, rest @ ..] => format!("{} and {} more", first.workload.label(), rest.len()),
        }
    }
}
