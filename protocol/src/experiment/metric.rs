//! What is compared between trials.

use crate::result::{Latency, StepResult};
use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Accesses beyond a percentile without which it is not taken from a trial.
const BEYOND: f64 = 4.0;

/// A number that each trial yields, above 0. Effects on it are ratios, so that its unit does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Metric {
    /// Bytes per second.
    #[serde(rename = "bw")]
    Bw,
    /// Accesses per second.
    #[serde(rename = "iops")]
    Iops,
    /// Mean latency in ns.
    #[serde(rename = "latency-mean")]
    LatencyMean,
    /// Median latency in ns.
    #[serde(rename = "latency-p50")]
    LatencyP50,
    /// Latency in ns that 99 % of the accesses stay below.
    #[serde(rename = "latency-p99")]
    LatencyP99,
    /// Latency in ns that 99.9 % of the accesses stay below.
    #[serde(rename = "latency-p99.9")]
    LatencyP999,
    /// The workers' CPU time per access in ns.
    #[serde(rename = "cpu-per-io")]
    CpuPerIo,
    /// Energy per access in J, where the host can measure it.
    #[serde(rename = "energy-per-io")]
    EnergyPerIo,
    /// Power in W while nothing is asked of the drive; of the trials named [`super::workloads::IDLE`] only.
    #[serde(rename = "idle-power")]
    IdlePower,
}

impl Metric {
    /// All, in the order they are shown.
    pub const ALL: [Self; 9] = [
        Self::Bw,
        Self::Iops,
        Self::LatencyMean,
        Self::LatencyP50,
        Self::LatencyP99,
        Self::LatencyP999,
        Self::CpuPerIo,
        Self::EnergyPerIo,
        Self::IdlePower,
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bw => "bw",
            Self::Iops => "iops",
            Self::LatencyMean => "latency-mean",
            Self::LatencyP50 => "latency-p50",
            Self::LatencyP99 => "latency-p99",
            Self::LatencyP999 => "latency-p99.9",
            Self::CpuPerIo => "cpu-per-io",
            Self::EnergyPerIo => "energy-per-io",
            Self::IdlePower => "idle-power",
        }
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Bw | Self::Iops)
    }

    /// The metric that a workload's verdict rests on: latency where the rate is given from outside or the drive is left
    /// idle in between, accesses per second for random ones, bytes per second for sequential ones.
    pub fn of(workload: &Workload) -> Self {
        if workload.rate_iops.is_some() || workload.thinktime.0 > 0 {
            Self::LatencyMean
        } else if workload.rw.random() {
            Self::Iops
        } else {
            Self::Bw
        }
    }

    /// Everything that a result says of a trial, but for energy, which the engine does not measure. Percentiles are of
    /// the reads where a workload does both, and only those that [`BEYOND`] accesses or more lie beyond: of fewer, the
    /// percentile is hardly more than the worst case.
    pub fn of_result(result: &StepResult) -> BTreeMap<Self, f64> {
        let latency = result.directions().next().map(|d| &d.lat);
        let percentile = |p: f64| {
            let enough = |l: &&Latency| l.n as f64 * (1.0 - p / 100.0) > BEYOND - 0.5;
            latency.filter(enough).and_then(|l| l.percentile(p)).map(|ns| ns.0 as f64)
        };
        let values = [
            (Self::Bw, Some(result.bw().0)),
            (Self::Iops, Some(result.iops().0)),
            (Self::LatencyMean, result.mean_latency_ns()),
            (Self::LatencyP50, percentile(50.0)),
            (Self::LatencyP99, percentile(99.0)),
            (Self::LatencyP999, percentile(99.9)),
            (Self::CpuPerIo, Some(result.cpu.per_io_ns)),
        ];
        values.into_iter().filter_map(|(m, v)| Some((m, v.filter(|v| v.is_finite() && *v > 0.0)?))).collect()
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        for metric in Metric::ALL {
            assert_eq!(serde_json::to_string(&metric).unwrap(), format!("\"{metric}\""));
        }
    }
}
