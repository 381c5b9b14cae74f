//! The words a workload is written in, with fio's names: direction, wait mode, spacing, spread.

use super::WorkloadError;
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
