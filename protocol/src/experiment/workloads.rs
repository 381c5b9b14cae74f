//! The workloads that an experiment can name instead of spelling them out.
//!
//! Saturating workloads hide what idle states cost, since nothing is ever idle; the paced one and the cold read are
//! there to show it.

use super::keys::{Keyed, StrictMap};
use crate::preset::{self, Column, PresetRequest};
use crate::units::{Bytes, Iops, Micros, Seconds};
use crate::workload::{Rw, Workload};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// 4K random reads one at a time, as fast as they go.
pub const RANDOM: &str = "4k-qd1";
/// 4K random reads one at a time, [`PACED_IOPS`] a second.
pub const PACED: &str = "4k-qd1-paced";
/// 4K random reads, each after an idle gap of [`COLD_GAP`]; `cold-read-2s` for a gap of one's own.
pub const COLD: &str = "cold-read";
/// The same at the gap that a sweep before the first trial finds to be telling, and is called after then.
pub const COLD_SWEPT: &str = "cold-read-sweep";
/// 4K random reads, 32 in flight.
pub const DEEP: &str = "4k-qd32";
/// 1M sequential reads one at a time.
pub const SEQUENTIAL: &str = "seq1m-qd1";
/// 1M sequential reads, 8 in flight.
pub const SEQUENTIAL_DEEP: &str = "seq1m-qd8";
/// Name of the trials that do nothing, to see what a configuration takes at idle. No workload may be called so.
pub const IDLE: &str = "idle";
/// All, in the order they run.
pub const NAMES: [&str; 6] = [RANDOM, PACED, COLD, DEEP, SEQUENTIAL, SEQUENTIAL_DEEP];

/// What a check measures if nothing else is asked for. Each is answered one at a time: what lets things sleep shows there.
pub const CHECK: [&str; 3] = [RANDOM, PACED, COLD];
/// Measured time of a check's trials when nothing is said: it repeats often instead.
pub const CHECK_TRIAL: Seconds = Seconds(Micros(500_000));

/// Accesses per second of the paced workload: 5 ms apart, longer than any CPU needs to reach its deepest idle state.
pub const PACED_IOPS: f64 = 200.0;
/// Idle gap of the cold read, unless a sweep has found a better one. An NVMe drive's first autonomous power state and a
/// SATA link's partial state come within 100 ms.
pub const COLD_GAP: Seconds = Seconds(Micros(100_000));
/// Gaps of the sweep that finds out after how long a pause a read gets slow: from a CPU's deepest idle state (below
/// 1 ms) over the kernel's two timeouts of NVMe power states (0.1 s and 2 s) to beyond them.
pub const COLD_SWEEP: [Seconds; 7] = [
    Seconds(Micros(1_000)),
    Seconds(Micros(10_000)),
    Seconds(Micros(50_000)),
    Seconds(Micros(200_000)),
    Seconds(Micros(500_000)),
    Seconds(Micros(1_000_000)),
    Seconds(Micros(3_000_000)),
];
/// Cold reads that a trial has at least, whatever the gap.
const COLD_READS: u64 = 8;
/// Longest gap in a workload's name.
const LONGEST_GAP: Seconds = Seconds::from_secs(60);
/// Measured time of a trial when nothing is said.
pub const TRIAL: Seconds = Seconds::from_secs(2);
/// Time that each trial runs before it is measured; of short trials a quarter of their own time.
pub const RAMP: Seconds = Seconds(Micros(250_000));

/// What a named workload does, with the trial's measured time; `None` if there is none of this name.
pub fn find(name: &str, trial: Seconds) -> Option<Workload> {
    let base = |rw, bs, iodepth| Workload {
        name: Some(name.to_owned()),
        bs: Bytes(bs),
        iodepth,
        runtime: trial,
        ramp_time: RAMP.min(Seconds(Micros(trial.0.0 / 4))),
        ..Workload::new(rw)
    };
    Some(match name {
        RANDOM => base(Rw::RandRead, 4096, 1),
        PACED => Workload { rate_iops: Some(Iops(PACED_IOPS)), ..base(Rw::RandRead, 4096, 1) },
        DEEP => base(Rw::RandRead, 4096, 32),
        SEQUENTIAL => base(Rw::Read, 1 << 20, 1),
        SEQUENTIAL_DEEP => base(Rw::Read, 1 << 20, 8),
        COLD | COLD_SWEPT => cold(base(Rw::RandRead, 4096, 1), COLD_GAP),
        _ => {
            let gap: Seconds = name.strip_prefix(COLD)?.strip_prefix('-')?.parse().ok()?;
            (gap.0.0 > 0 && gap <= LONGEST_GAP).then(|| cold(base(Rw::RandRead, 4096, 1), gap))?
        }
    })
}

/// A workload with another idle gap before each access, and called so.
#[must_use]
pub fn with_gap(base: &Workload, gap: Seconds) -> Workload {
    cold(Workload { name: Some(format!("{COLD}-{gap}")), ..base.clone() }, gap)
}

/// Long enough for some reads; the first of them, which follows no gap, falls into the ramp.
fn cold(base: Workload, gap: Seconds) -> Workload {
    Workload { thinktime: gap.0, ..base }.lasting(base.runtime)
}

impl Workload {
    /// It, measured for this time, or for long enough to hold some accesses if there are gaps between them.
    fn lasting(self, time: Seconds) -> Self {
        let needed = Seconds(Micros(self.thinktime.0.saturating_mul(COLD_READS)));
        Self { runtime: time.max(needed), ..self }
    }
}

/// A workload of an experiment: one that goes by a name, or one spelt out with fio's names.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum WorkloadChoice {
    /// One of [`NAMES`], `cold-read-TIME`, [`COLD_SWEPT`], or a preset, whose rows are each read.
    Named(String),
    /// A table; its `name` is its label.
    Table(Box<Workload>),
}

impl WorkloadChoice {
    /// What it does: one workload, or the reads of a preset, its rows in order. `trial` is the measured time where one was
    /// asked for. `None` if there is nothing of this name.
    pub fn expanded(&self, trial: Option<Seconds>) -> Option<Vec<Workload>> {
        match self {
            Self::Named(name) => match preset::find(name) {
                Some(preset) => preset_reads(preset.name, trial),
                None => Some(vec![find(name, trial.unwrap_or(TRIAL))?]),
            },
            Self::Table(w) => Some(vec![trial.map_or_else(|| (**w).clone(), |trial| (**w).clone().lasting(trial))]),
        }
    }
}

/// Each row of a preset once, reading: an experiment repeats by itself, and writes only if asked.
fn preset_reads(name: &str, trial: Option<Seconds>) -> Option<Vec<Workload>> {
    let request = PresetRequest {
        name: name.to_owned(),
        repetitions: Some(1),
        columns: Some(vec![Column::Read]),
        runtime: trial,
        ..PresetRequest::default()
    };
    let steps = request.steps().ok()?;
    let renamed = |w: Workload| Workload { name: Some(format!("{name} {}", w.label())), ramp_time: RAMP, ..w };
    Some(steps.into_iter().filter(|s| !s.warmup).map(|s| renamed(s.workload)).collect())
}

impl Keyed for Workload {
    const WHAT: &'static str = "a workload: a name, or a table with fio's names";
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl<'de> Deserialize<'de> for WorkloadChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = WorkloadChoice;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(Workload::WHAT)
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<WorkloadChoice, E> {
                Ok(WorkloadChoice::Named(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WorkloadChoice, A::Error> {
                Workload::read(StrictMap(map)).map(|w| WorkloadChoice::Table(Box::new(w)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_valid_workload_of_that_name() {
        for name in NAMES.into_iter().chain(["cold-read-2s", "cold-read-10ms", COLD_SWEPT]) {
            let w = find(name, TRIAL).unwrap();
            w.validate().unwrap();
            assert_eq!(w.label(), name);
            assert!(!w.rw.writes());
        }
        for name in ["", "4k", "cold-read-", "cold-read-0", "cold-read-2h", "cold-read-x"] {
            assert_eq!(find(name, TRIAL), None, "{name}");
        }
    }

    #[test]
    fn a_cold_read_lasts_for_some_reads() {
        assert_eq!(find("cold-read-1s", TRIAL).unwrap().runtime, Seconds::from_secs(8));
        assert_eq!(find("cold-read-1ms", TRIAL).unwrap().runtime, TRIAL);
    }

    #[test]
    fn a_spelt_out_cold_read_lasts_too_and_can_get_another_gap() {
        let base = Workload { size: Some(Bytes(1 << 20)), ..find(COLD, TRIAL).unwrap() };
        let w = with_gap(&base, Seconds::from_secs(1));
        assert_eq!((w.label(), w.size), ("cold-read-1s".into(), Some(Bytes(1 << 20))));
        let table = WorkloadChoice::Table(Box::new(w)).expanded(Some(Seconds(Micros(500_000)))).unwrap();
        assert_eq!(table[0].runtime, Seconds::from_secs(8));
    }

    #[test]
    fn a_preset_stands_for_its_reads() {
        let all = WorkloadChoice::Named("cdm8".into()).expanded(None).unwrap();
        let names: Vec<_> = all.iter().map(Workload::label).collect();
        let rows = ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"];
        assert_eq!(names, rows.map(|row| format!("cdm8 {row} read")));
        assert!(all.iter().all(|w| !w.rw.writes()));
    }

    #[test]
    fn tables_are_read_with_their_unknown_keys_named() {
        let table: WorkloadChoice = serde_json::from_str(r#"{"name":"db","rw":"randread","bs":"8k"}"#).unwrap();
        assert_eq!(table.expanded(None).unwrap()[0].bs, Bytes(8192));
        assert_eq!(table.expanded(Some(Seconds::from_secs(9))).unwrap()[0].runtime, Seconds::from_secs(9));
        let error = serde_json::from_str::<WorkloadChoice>(r#"{"rw":"read","iodept":4}"#).unwrap_err().to_string();
        assert!(error.contains("unknown key `iodept`; did you mean `iodepth`?"), "{error}");
        let error = serde_json::from_str::<WorkloadChoice>("3").unwrap_err().to_string();
        assert!(error.contains("expected a workload"), "{error}");
    }
}
