//! What a workload measured, kept whole.

use crate::units::{Bytes, BytesPerSecond, Iops, Nanos};
use serde::{Deserialize, Serialize};

/// Result of one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepResult {
    /// Index of the step in the plan.
    pub step: u32,
    /// Measured time in ns: from the end of the ramp to the last completion.
    pub elapsed_ns: u64,
    /// Reads, when there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Direction>,
    /// Writes, when there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Direction>,
    /// CPU time spent.
    pub cpu: CpuTime,
    /// What drove the accesses, and why if it was not what was asked for.
    pub engine: EngineUsed,
    /// Whether the accesses reached the drive, and how that is known.
    pub path: IoPath,
    /// What limits the meaning of the numbers.
    #[serde(default)]
    pub caveats: Vec<Caveat>,
    /// Stopped before its time; what there is, is kept.
    #[serde(default)]
    pub cut_short: bool,
}

impl StepResult {
    /// Reads and writes together, per second.
    pub fn iops(&self) -> Iops {
        Iops(self.directions().map(|d| d.iops.0).sum())
    }
    /// Reads and writes together, in bytes per second.
    pub fn bw(&self) -> BytesPerSecond {
        BytesPerSecond(self.directions().map(|d| d.bw.0).sum())
    }
    /// Mean latency over all accesses, in ns; `None` when there were none.
    pub fn mean_latency_ns(&self) -> Option<f64> {
        let n: u64 = self.directions().map(|d| d.lat.n).sum();
        let sum: f64 = self.directions().map(|d| d.lat.mean_ns * d.lat.n as f64).sum();
        (n > 0).then(|| sum / n as f64)
    }
    /// Read and write parts that are there.
    pub fn directions(&self) -> impl Iterator<Item = &Direction> {
        self.read.iter().chain(&self.write)
    }
    /// Why this result must not be compared with others, if so.
    pub fn not_comparable(&self) -> Option<&'static str> {
        match self.path.kind {
            IoPathKind::PageCache => Some("page cache"),
            _ if self.cut_short => Some("stopped early"),
            _ => None,
        }
    }
}

/// All accesses of one direction in the measured time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Direction {
    /// Completions.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: Bytes,
    /// Completions per second.
    pub iops: Iops,
    /// Bytes per second.
    pub bw: BytesPerSecond,
    /// From submission (rate-limited workloads: from the intended start) to completion.
    pub lat: Latency,
    /// From submission to completion; only where it differs from `lat`, that is with `rate_iops`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clat: Option<Latency>,
    /// Whole latency histogram of `lat`: base64 of the `HdrHistogram` V2 compressed encoding, values in ns,
    /// 3 significant digits. Mergeable with any HDR implementation.
    pub hist: String,
}

/// Summary of one latency distribution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Latency {
    /// Number of accesses.
    pub n: u64,
    /// Smallest, exact.
    pub min_ns: Nanos,
    /// Largest, exact.
    pub max_ns: Nanos,
    /// Arithmetic mean, exact.
    pub mean_ns: f64,
    /// Standard deviation over the population.
    pub stddev_ns: f64,
    /// `[percentile, ns]` for [`PERCENTILES`], ascending.
    pub percentiles: Vec<(f64, Nanos)>,
}

/// The percentiles that are stored: fio's default list.
pub const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

impl Latency {
    /// The stored percentile `p`, if `p` is one of [`PERCENTILES`].
    pub fn percentile(&self, p: f64) -> Option<Nanos> {
        self.percentiles.iter().find(|(q, _)| (q - p).abs() < 1e-9).map(|&(_, v)| v)
    }
}

/// CPU time over the measured time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CpuTime {
    /// The workers' user time in s.
    pub user_s: f64,
    /// The workers' system time in s (for the io-uring kernel workers of a buffered file too).
    pub system_s: f64,
    /// Voluntary and involuntary context switches of the workers.
    pub context_switches: u64,
    /// Share of the whole machine's CPU time that was not idle, 0 to 1; absent where /proc/stat is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<f64>,
    /// Workers' CPU time per access in ns.
    pub per_io_ns: f64,
}

/// What drove the accesses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EngineUsed {
    /// The driver.
    pub kind: EngineKind,
    /// Features in use: `registered-buffers`, `registered-file`, `defer-taskrun`, ...
    pub features: Vec<String>,
    /// What was asked for but is not there, each with its cause ("registered buffers: memlock limit of 8 MiB").
    #[serde(default)]
    pub fallbacks: Vec<String>,
    /// CPUs the workers were pinned to.
    pub cpus: Vec<u32>,
}

/// A driver of accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// A ring of the io-uring crate, driven directly.
    IoUring,
    /// tokio-uring tasks.
    TokioUring,
    /// `pread` and `pwrite` on a thread per access in flight, where `io_uring` is not to be had.
    Threads,
}

/// Whether the accesses reached the drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IoPath {
    /// The finding.
    pub kind: IoPathKind,
    /// How it is known, in words.
    pub evidence: String,
    /// What the block layer counted for the device meanwhile (all processes); absent where there is no device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_layer: Option<BlockCounters>,
}

/// Whether the accesses reached the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IoPathKind {
    /// `O_DIRECT`, and the block layer counted at least the bytes asked for.
    Direct,
    /// Through the page cache, asked for or not. Left out of comparisons.
    PageCache,
    /// `O_DIRECT` was accepted, but nothing here can count what reached the drive.
    Unverified,
}

/// Differences of the block layer's counters over a step, drain included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BlockCounters {
    /// Read requests completed.
    pub read_ios: u64,
    /// Bytes read.
    pub read_bytes: Bytes,
    /// Write requests completed.
    pub write_ios: u64,
    /// Bytes written.
    pub write_bytes: Bytes,
}

/// Something to know before believing a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Caveat {
    /// For scripts.
    pub kind: CaveatKind,
    /// For people: "The worker used 99 % of its CPU: a faster CPU would give more."
    pub message: String,
}

/// Kinds of [`Caveat`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CaveatKind {
    /// The workers' CPUs were busy all the time.
    CpuBound,
    /// The tool itself reached more than 70 % of its own ceiling.
    ToolBound,
    /// Accesses went through the page cache.
    PageCache,
    /// Less than one second was measured.
    ShortRun,
    /// Driven by threads instead of `io_uring`.
    ThreadFallback,
    /// A rate-limited workload could not keep its rate.
    RateMissed,
    /// The file has holes or is compressed, so that the drive is asked for less than it seems.
    Sparse,
    /// Other programs kept the machine's CPUs busy.
    BusyMachine,
    /// More CPU-hungry jobs than CPUs.
    MoreJobsThanCpus,
}
