//! One access pattern: what fio calls a job, with fio's names.

mod error;
mod terms;

pub use error::WorkloadError;
pub use terms::{Distribution, RateProcess, Rw, Wait};

use crate::units::{Bytes, Iops, Micros, Seconds};
use crate::whole::whole;
use serde::{Deserialize, Serialize};
use std::fmt;

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
    #[serde(default = "defaults::rwmixread", deserialize_with = "whole::<0, 100, _, _>")]
    pub rwmixread: u8,
    /// Block size, 512 B to 64 MiB, a multiple of 512.
    #[serde(default = "defaults::bs")]
    pub bs: Bytes,
    /// Accesses in flight per job, 1 to 1024.
    #[serde(default = "defaults::one", deserialize_with = "whole::<1, 1024, _, _>")]
    pub iodepth: u32,
    /// Worker threads, each on a range of its own, 1 to 256.
    #[serde(default = "defaults::one", deserialize_with = "whole::<1, 256, _, _>")]
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
