//! What is stored of an experiment beside its trials: enough to plan it again and to judge what it found.

use super::outcome::{Configuration, ExperimentReport};
use super::spec::ExperimentSpec;
use crate::error::ErrorBody;
use crate::host::{DriveFacts, HostFacts, TargetFacts};
use crate::knob::Knob;
use crate::run::{RunId, RunState};
use crate::units::Seconds;
use crate::workload::Wait;
use serde::{Deserialize, Serialize};

/// An experiment as it began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExperimentRecord {
    /// Its id; sorts by time.
    pub id: RunId,
    /// Version of this form, [`super::outcome::FORMAT`].
    pub format: u32,
    /// Version of the program that began it.
    pub version: String,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// What was asked for, with the seed that was drawn.
    pub spec: ExperimentSpec,
    /// The host's knobs as found.
    pub knobs: Vec<Knob>,
    /// The ways to wait that its kernel has.
    pub waits: Vec<Wait>,
    /// Configurations of the design that the kernel did not take, by their place in it, and why.
    pub impossible: Vec<(usize, String)>,
    /// The configurations that are run; trials name them by their place here.
    pub configurations: Vec<Configuration>,
    /// The sweep of idle gaps that was made before the first trial; empty where there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<GapPoint>,
    /// The machine.
    pub host: HostFacts,
    /// What is measured.
    pub target: TargetFacts,
    /// The drive under it, where the kernel knows one.
    pub drive: Option<DriveFacts>,
    /// Whether it was run elsewhere and brought here as a file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
}

/// How long a read takes after an idle gap, with all savings on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GapPoint {
    /// The gap.
    pub gap: Seconds,
    /// Median latency of a read after it, in ns.
    pub latency_ns: f64,
}

impl ExperimentRecord {
    /// Ids of the knobs that it changes, sorted.
    pub fn touched(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.configurations.iter().flat_map(|c| &c.set).map(|a| a.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// An experiment as a file to keep, to send, and to import on another host: the report, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExperimentFile {
    /// As it began.
    pub experiment: ExperimentRecord,
    /// Where it stands.
    pub state: RunState,
    /// End, RFC 3339, UTC.
    #[serde(default)]
    pub finished_at: Option<String>,
    /// Why it ended before its time.
    #[serde(default)]
    pub error: Option<ErrorBody>,
    /// What it found.
    #[serde(flatten)]
    pub report: ExperimentReport,
}

#[cfg(test)]
mod tests {
    use super::super::{Metric, Trial};
    use proptest::prelude::*;

    proptest! {
        /// What is concluded from a stored trial must be what was concluded when it ran, to the last digit.
        #[test]
        fn measured_numbers_come_back_equal(values in prop::collection::vec(prop::num::f64::POSITIVE, 3)) {
            let trial = Trial {
                number: 0,
                block: 0,
                configuration: 0,
                workload: "4k-qd1".into(),
                metrics: [Metric::Bw, Metric::Iops, Metric::LatencyMean].into_iter().zip(values).collect(),
                latency: vec![],
                started_at: "2026-01-02T03:04:05Z".into(),
                void: None,
            };
            let text = serde_json::to_string(&trial).unwrap();
            prop_assert_eq!(serde_json::from_str::<Trial>(&text).unwrap(), trial);
        }
    }
}
