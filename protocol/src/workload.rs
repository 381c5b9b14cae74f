//! One access pattern: what fio calls a job, with fio's names.

use crate::units::{Bytes, Iops, Micros, Seconds};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Direction and order of the accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Rw {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential, reads and writes mixed.
    Rw,
    /// Random, reads and writes mixed.
    RandRw,
}

impl Rw {
    /// All six, in fio's order.
    pub const ALL: [Self; 6] = [Self::Read, Self::Write, Self::RandRead, Self::RandWrite, Self::Rw, Self::RandRw];

    /// fio's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::Rw => "rw",
            Self::RandRw => "randrw",
        }
    }
    /// Does it ever read?
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::RandWrite)
    }
    /// Does it ever write?
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead)
    }
    /// Are offsets drawn at random?
    pub fn random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
    }
}

/// How a worker waits for completions. Part of the experiment: a thread asleep in `io_uring_enter` counts as I/O
/// wait and so feeds cpufreq's boost and the idle governor; one asleep in `epoll_wait` does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// Asleep in `io_uring_enter`, as fio and most C programs do.
    #[default]
    Enter,
    /// The same, not counted as I/O wait (Linux 6.15 and later).
    EnterNoIowait,
    /// Asleep in `epoll_wait`, as async Rust services on tokio-uring do.
    Epoll,
    /// Never asleep: spins on the completion queue.
    Poll,
}

impl Wait {
    /// All four, in the order they are offered.
    pub const ALL: [Self; 4] = [Self::Enter, Self::EnterNoIowait, Self::Epoll, Self::Poll];

    /// The name used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Enter => "enter",
            Self::EnterNoIowait => "enter-no-iowait",
            Self::Epoll => "epoll",
            Self::Poll => "poll",
        }
    }
}

/// How intended start times of a rate-limited workload are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RateProcess {
    /// Evenly spaced.
    #[default]
    Linear,
    /// Exponentially distributed gaps: independent arrivals.
    Poisson,
}

impl RateProcess {
    /// fio's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Poisson => "poisson",
        }
    }
}

/// How random offsets are spread over the range. Written as in fio: `random`, `zipf:1.2`, `pareto:0.2`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Distribution {
    /// Every block equally likely.
    #[default]
    Uniform,
    /// Zipf with exponent theta: the k-th most popular block is drawn in proportion to k^-theta.
    Zipf(f64),
    /// Self-similar with skew h: a share 1-h of accesses goes to a share h of the blocks.
    Pareto(f64),
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("random"),
            Self::Zipf(theta) => write!(f, "zipf:{theta}"),
            Self::Pareto(h) => write!(f, "pareto:{h}"),
        }
    }
}

impl FromStr for Distribution {
    type Err = WorkloadError;
    fn from_str(s: &str) -> Result<Self, WorkloadError> {
        let bad = || WorkloadError::Distribution(s.to_owned());
        let (name, value) = s.split_once(':').unwrap_or((s, ""));
        let number =
            |default: f64| if value.is_empty() { Ok(default) } else { value.parse::<f64>().map_err(|_| bad()) };
        match name {
            "random" | "uniform" if value.is_empty() => Ok(Self::Uniform),
            "zipf" => match number(1.1)? {
                theta if theta > 0.0 && theta <= 10.0 => Ok(Self::Zipf(theta)),
                _ => Err(bad()),
            },
            "pareto" => match number(0.2)? {
                h if h > 0.0 && h < 1.0 => Ok(Self::Pareto(h)),
                _ => Err(bad()),
            },
            _ => Err(bad()),
        }
    }
}

impl Serialize for Distribution {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

macro_rules! by_name {
    ($type:ty, $what:literal, $all:expr) => {
        impl FromStr for $type {
            type Err = WorkloadError;
            fn from_str(s: &str) -> Result<Self, WorkloadError> {
                $all.into_iter().find(|v| v.name() == s).ok_or_else(|| WorkloadError::Unknown {
                    what: $what,
                    name: s.to_owned(),
                    known: $all.map(|v| v.name()).join(", "),
                })
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
by_name!(Rw, "rw", Rw::ALL);
by_name!(Wait, "wait mode", Wait::ALL);
by_name!(RateProcess, "rate process", [RateProcess::Linear, RateProcess::Poisson]);

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

/// One access pattern. Field names and defaults are fio's where fio has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// A label of the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Direction and order.
    pub rw: Rw,
    /// Reads per hundred accesses of a mixed workload, 0 to 100.
    #[serde(default = "defaults::rwmixread")]
    pub rwmixread: u8,
    /// Block size, 512 B to 64 MiB, a multiple of 512.
    #[serde(default = "defaults::bs")]
    pub bs: Bytes,
    /// Accesses in flight per job, 1 to 1024.
    #[serde(default = "defaults::one")]
    pub iodepth: u32,
    /// Worker threads, each on a range of its own, 1 to 256.
    #[serde(default = "defaults::one")]
    pub numjobs: u32,
    /// Bytes that are accessed, from `offset`; 1 GiB for a file of our own, else to the end of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Where the accessed range begins.
    #[serde(default)]
    pub offset: Bytes,
    /// Measured time, ramp excluded; at least 0.05 s, at most a week.
    #[serde(default = "defaults::runtime")]
    pub runtime: Seconds,
    /// Time run before measuring starts.
    #[serde(default)]
    pub ramp_time: Seconds,
    /// Open loop: accesses started per second by each job; latency counts from the intended start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_iops: Option<Iops>,
    /// Spacing of the intended starts.
    #[serde(default)]
    pub rate_process: RateProcess,
    /// Pause after each completion before its slot is used again.
    #[serde(default)]
    pub thinktime: Micros,
    /// Through the page cache rather than `O_DIRECT`.
    #[serde(default)]
    pub buffered: bool,
    /// Drop the range from the page cache first (1, as in fio) or leave it (0).
    #[serde(default = "defaults::yes", with = "zero_one")]
    #[cfg_attr(feature = "openapi", schema(value_type = u8))]
    pub invalidate: bool,
    /// How the worker waits.
    #[serde(default)]
    pub wait: Wait,
    /// Spread of random offsets.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub random_distribution: Distribution,
    /// Seed of the offset generator; the same seed gives the same offsets.
    #[serde(default = "defaults::seed")]
    pub randseed: u64,
}

mod defaults {
    use crate::units::{Bytes, Seconds};
    pub(super) fn rwmixread() -> u8 {
        50
    }
    pub(super) fn bs() -> Bytes {
        Bytes(4096)
    }
    pub(super) fn one() -> u32 {
        1
    }
    pub(super) fn runtime() -> Seconds {
        Seconds::from_secs(5)
    }
    pub(super) fn yes() -> bool {
        true
    }
    pub(super) fn seed() -> u64 {
        0x5eed
    }
}

/// fio writes its switches as 0 and 1; `true` and `false` are read as well.
mod zero_one {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    // serde's `with` passes a reference.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(v: &bool, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u8(u8::from(*v))
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<bool, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Bool(bool),
            Number(u8),
        }
        match Either::deserialize(d) {
            Ok(Either::Bool(v)) => Ok(v),
            Ok(Either::Number(v @ (0 | 1))) => Ok(v == 1),
            _ => Err(D::Error::custom("expected 0 or 1")),
        }
    }
}

/// Size of a file of our own when no size is given.
pub const DEFAULT_SIZE: Bytes = Bytes(1 << 30);

impl Workload {
    /// A workload of this direction with fio's defaults for everything else.
    pub fn new(rw: Rw) -> Self {
        Self {
            name: None,
            rw,
            rwmixread: defaults::rwmixread(),
            bs: defaults::bs(),
            iodepth: 1,
            numjobs: 1,
            size: None,
            offset: Bytes(0),
            runtime: defaults::runtime(),
            ramp_time: Seconds::default(),
            rate_iops: None,
            rate_process: RateProcess::default(),
            thinktime: Micros(0),
            buffered: false,
            invalidate: true,
            wait: Wait::default(),
            random_distribution: Distribution::default(),
            randseed: defaults::seed(),
        }
    }

    /// The user's name for it, else a short one such as `randread 4k QD32 T4`.
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let jobs = if self.numjobs > 1 { format!(" T{}", self.numjobs) } else { String::new() };
        format!("{} {} QD{}{jobs}", self.rw, self.bs.fio(), self.iodepth)
    }

    /// Ramp and runtime together.
    pub fn duration(&self) -> Seconds {
        Seconds(Micros(self.ramp_time.0.0.saturating_add(self.runtime.0.0)))
    }

    /// The equivalent `brakecheck bench` options, only those that differ from the defaults; the page shows them.
    pub fn command_line(&self) -> String {
        use std::fmt::Write;
        let default = Self::new(self.rw);
        let mut out = format!("--rw {}", self.rw);
        let mut put = |differs: bool, name: &str, value: &dyn fmt::Display| {
            if differs {
                let _ = write!(out, " --{name} {value}");
            }
        };
        put(self.rw.reads() && self.rw.writes(), "rwmixread", &self.rwmixread);
        put(true, "bs", &self.bs.fio());
        put(true, "iodepth", &self.iodepth);
        put(self.numjobs != 1, "numjobs", &self.numjobs);
        put(self.size.is_some(), "size", &self.size.unwrap_or_default().fio());
        put(self.offset != default.offset, "offset", &self.offset.fio());
        put(true, "runtime", &self.runtime);
        put(self.ramp_time != default.ramp_time, "ramp-time", &self.ramp_time);
        put(self.rate_iops.is_some(), "rate-iops", &self.rate_iops.unwrap_or_default().0);
        put(self.rate_process != default.rate_process, "rate-process", &self.rate_process);
        put(self.thinktime != default.thinktime, "thinktime", &self.thinktime);
        put(!self.invalidate, "invalidate", &0);
        put(self.wait != default.wait, "wait", &self.wait);
        put(self.random_distribution != default.random_distribution, "random-distribution", &self.random_distribution);
        put(self.randseed != default.randseed, "randseed", &self.randseed);
        if self.buffered {
            out.push_str(" --buffered");
        }
        out
    }

    /// Checks everything that does not depend on the target.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        let range = |field, ok: bool, value: &dyn fmt::Display, low: &str, high: &str| {
            let error = || WorkloadError::Range { field, value: value.to_string(), low: low.into(), high: high.into() };
            ok.then_some(()).ok_or_else(error)
        };
        let name = self.name.as_deref().map_or(0, |n| n.chars().count());
        range("name", name <= 100, &format_args!("{name} characters long"), "0", "100 characters")?;
        range("bs", (512..=64 << 20).contains(&self.bs.0), &self.bs, "512 B", "64 MiB")?;
        if !self.bs.0.is_multiple_of(512) {
            return Err(WorkloadError::Unaligned(self.bs.0));
        }
        range("iodepth", (1..=1024).contains(&self.iodepth), &self.iodepth, "1", "1024")?;
        range("numjobs", (1..=256).contains(&self.numjobs), &self.numjobs, "1", "256")?;
        range("rwmixread", self.rwmixread <= 100, &self.rwmixread, "0", "100")?;
        let week = Seconds::from_secs(7 * 86_400);
        range("runtime", self.runtime.0 >= Micros(50_000) && self.runtime <= week, &self.runtime, "50ms", "a week")?;
        range("ramp_time", self.ramp_time <= week, &self.ramp_time, "0", "a week")?;
        range("thinktime", self.thinktime.0 <= 3_600_000_000, &self.thinktime, "0", "an hour")?;
        if let Some(rate) = self.rate_iops {
            range("rate_iops", rate.0 > 0.0 && rate.0 <= 1e8, &rate.0, "above 0", "100000000")?;
        }
        let total = u64::from(self.iodepth) * u64::from(self.numjobs) * self.bs.0;
        if total > 4 << 30 {
            return Err(WorkloadError::Buffers {
                iodepth: self.iodepth,
                numjobs: self.numjobs,
                bs: self.bs,
                total: Bytes(total),
            });
        }
        if let Some(size) = self.size {
            let least = Bytes(self.bs.0 * u64::from(self.numjobs));
            if size < least {
                return Err(WorkloadError::TooSmall { size, bs: self.bs, jobs: self.numjobs, least });
            }
        }
        let size = self.size.unwrap_or(DEFAULT_SIZE);
        match self.offset.0.checked_add(size.0) {
            Some(end) if i64::try_from(end).is_ok() => Ok(()),
            _ => Err(WorkloadError::Overflow(self.offset, size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_request_is_read() {
        let json = r#"{"rw": "randread", "bs": "4k", "iodepth": 8, "numjobs": 1, "size": "256m", "runtime": "4s"}"#;
        let w: Workload = serde_json::from_str(json).unwrap();
        assert_eq!(
            (w.rw, w.bs, w.iodepth, w.size, w.runtime),
            (Rw::RandRead, Bytes(4096), 8, Some(Bytes(256 << 20)), Seconds::from_secs(4))
        );
        w.validate().unwrap();
        let again: Workload = serde_json::from_str(&serde_json::to_string(&w).unwrap()).unwrap();
        assert_eq!(again, w);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let base = Workload::new(Rw::Read);
        let cases: [(Workload, &str); 9] = [
            (Workload { name: Some("x".repeat(101)), ..base.clone() }, "name"),
            (Workload { iodepth: 0, ..base.clone() }, "iodepth"),
            (Workload { iodepth: 1025, ..base.clone() }, "iodepth"),
            (Workload { bs: Bytes(0), ..base.clone() }, "bs"),
            (Workload { bs: Bytes(1000), ..base.clone() }, "multiple of 512"),
            (Workload { bs: Bytes(1 << 20), size: Some(Bytes(4096)), ..base.clone() }, "size"),
            (Workload { offset: Bytes(u64::MAX), ..base.clone() }, "offset"),
            (Workload { numjobs: 0, ..base.clone() }, "numjobs"),
            (Workload { bs: Bytes(64 << 20), iodepth: 1024, size: Some(Bytes(1 << 40)), ..base.clone() }, "buffers"),
        ];
        for (workload, word) in cases {
            let message = workload.validate().unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
        let unknown = serde_json::from_str::<Workload>(r#"{"rw":"read","blocksize":"4k"}"#).unwrap_err().to_string();
        assert!(unknown.contains("blocksize"), "{unknown}");
    }

    #[test]
    fn the_command_line_shows_only_what_differs() {
        let w = Workload { iodepth: 32, wait: Wait::Poll, ..Workload::new(Rw::RandRead) };
        assert_eq!(w.command_line(), "--rw randread --bs 4k --iodepth 32 --runtime 5s --wait poll");
    }

    #[test]
    fn distributions_are_written_as_in_fio() {
        for text in ["random", "zipf:1.2", "pareto:0.2"] {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
        for text in ["zipf:0", "zipf:x", "pareto:1", "pareto:-1", "normal:3", ""] {
            assert!(text.parse::<Distribution>().is_err(), "{text}");
        }
    }
}
