//! Why a workload cannot be run anywhere.

use crate::units::Bytes;

/// Why a workload cannot be run anywhere. Each message names the field, the value and what to write instead.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// A name that is not one of the known ones.
    #[error("unknown {what} `{name}`; known are {known}")]
    Unknown {
        /// Which field.
        what: &'static str,
        /// What was given.
        name: String,
        /// What would do.
        known: String,
    },
    /// Not a distribution.
    #[error("`{0}` is not a distribution; write random, zipf:THETA (0 < THETA <= 10) or pareto:H (0 < H < 1)")]
    Distribution(String),
    /// A number outside its limits.
    #[error("{field} is {value}; it must be {low} to {high}")]
    Range {
        /// Which field.
        field: &'static str,
        /// What was given.
        value: String,
        /// Smallest allowed value.
        low: String,
        /// Largest allowed value.
        high: String,
    },
    /// Block size that no drive can do.
    #[error("bs is {0} bytes; it must be a multiple of 512")]
    Unaligned(u64),
    /// Less room than one block per job.
    #[error(
        "size {size} has no room for one block of {bs} for each of {jobs} jobs; make size at least {least}, or bs smaller"
    )]
    TooSmall {
        /// The size given.
        size: Bytes,
        /// The block size.
        bs: Bytes,
        /// Number of jobs.
        jobs: u32,
        /// The smallest size that would do.
        least: Bytes,
    },
    /// offset + size beyond 2^63.
    #[error("offset {0} plus size {1} is too large")]
    Overflow(Bytes, Bytes),
    /// All buffers together would not fit in any sane machine.
    #[error("iodepth {iodepth} x numjobs {numjobs} x bs {bs} needs {total} of buffers; the limit is 4 GiB")]
    Buffers {
        /// The depth given.
        iodepth: u32,
        /// The jobs given.
        numjobs: u32,
        /// The block size given.
        bs: Bytes,
        /// Their product.
        total: Bytes,
    },
}
