//! What is seen while a workload runs: one sample every 50 ms.

use crate::units::{Bytes, BytesPerSecond, Iops, Nanos};
use serde::{Deserialize, Serialize};

/// Samples per second of a running workload.
pub const SAMPLES_PER_SECOND: u32 = 20;

/// Part of a workload that a sample belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before measuring; not in the result.
    Ramp,
    /// Measured.
    #[default]
    Measure,
}

/// One interval of a running workload. Each completion is in exactly one sample: that of the interval it
/// completed in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Sample {
    /// Index of the step in the plan.
    pub step: u32,
    /// Ramp or measured.
    pub phase: Phase,
    /// End of the interval, in ms since the step's first access (ramp included).
    pub t_ms: f64,
    /// Length of the interval in ms; the rates below are over this.
    pub dt_ms: f64,
    /// Reads that completed in the interval.
    pub read: Flow,
    /// Writes that completed in the interval.
    pub write: Flow,
    /// Accesses in flight at the end of the interval.
    pub in_flight: u32,
    /// CPU time of the engine's threads over the interval, as a share of one core (4 busy threads: 4.0).
    pub engine_cpu: f64,
    /// Share of the whole machine's CPU time that was not idle, 0 to 1; absent where /proc/stat is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_cpu: Option<f64>,
    /// Share of the whole run that is done, 0 to 1.
    pub progress: f64,
    /// Time to the end of the run in ms.
    pub eta_ms: f64,
}

/// Accesses of one direction in one interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Flow {
    /// Completions.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Completions per second.
    pub iops: Iops,
    /// Bytes per second.
    pub bw: BytesPerSecond,
    /// Latency of those completions; absent when there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<SampleLatency>,
    /// The interval's latency histogram as `[highest ns of the bucket, completions]`, ascending, 16 buckets per
    /// doubling (6 %). Adding up the counts of equal bounds merges histograms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hist: Vec<(u64, u64)>,
}

/// Latency within one interval, from the engine's full-resolution histogram (0.1 %).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SampleLatency {
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: Nanos,
    /// 95th percentile.
    pub p95_ns: Nanos,
    /// 99th percentile.
    pub p99_ns: Nanos,
    /// 99.9th percentile.
    pub p999_ns: Nanos,
    /// Largest.
    pub max_ns: Nanos,
}
