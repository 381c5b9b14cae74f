//! The experiment file.

use super::keys::{Keyed, did_you_mean, strict};
use super::workloads::{self, WorkloadChoice};
use crate::units::{Micros, Seconds};
use crate::whole::whole;
use crate::workload::Workload;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// How configurations are chosen, and what is compared with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Screening of the knobs that can matter for the drive, each alone, then a confirmation of what looks like a brake.
    Check,
    /// Named rungs, each changing some knobs and keeping what the rungs before it changed. Without rungs: from
    /// all-saving to all-performance, one knob at a time in the given order.
    Ladder,
    /// The six runs of 2009 on a Gigabyte EX58-UD4P, as far as this host has their counterparts.
    X58Gigabyte,
    /// The six runs of 2009 on a Supermicro X8SAX, as far as this host has their counterparts.
    X58Supermicro,
    /// Each knob alone, changed from all-saving, from all-performance, or both.
    OneAtATime,
    /// Two configurations: two rungs, or as found against all-performance.
    Ab,
    /// All combinations up to five knobs, a fraction of them above; interactions of two knobs.
    Factorial,
    /// The drive's own queue: depth 32 against 1.
    Ncq,
    /// Link speeds of PCI Express.
    PcieLink,
    /// Ways for a program to wait for the drive. No setting of the host, but the same question.
    WaitMode,
    /// The platform's power profiles; where it has none, the CPU's energy preference or governor.
    PowerPlan,
}

impl Design {
    /// All, in the order they are offered.
    pub const ALL: [Self; 11] = [
        Self::Check,
        Self::OneAtATime,
        Self::Ab,
        Self::Ladder,
        Self::X58Gigabyte,
        Self::X58Supermicro,
        Self::Factorial,
        Self::Ncq,
        Self::PcieLink,
        Self::WaitMode,
        Self::PowerPlan,
    ];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Ladder => "ladder",
            Self::X58Gigabyte => "x58-gigabyte",
            Self::X58Supermicro => "x58-supermicro",
            Self::OneAtATime => "one-at-a-time",
            Self::Ab => "ab",
            Self::Factorial => "factorial",
            Self::Ncq => "ncq",
            Self::PcieLink => "pcie-link",
            Self::WaitMode => "wait-mode",
            Self::PowerPlan => "power-plan",
        }
    }

    /// The question it answers, in plain words.
    pub fn question(self) -> &'static str {
        match self {
            Self::Check => "Which setting slows this drive?",
            Self::Ladder => "What does each step do, if the settings are changed one after the other?",
            Self::X58Gigabyte => "What do the six runs of 2009 (Gigabyte X58) show on this machine?",
            Self::X58Supermicro => "What do the six runs of 2009 (Supermicro X58) show on this machine?",
            Self::OneAtATime => "Which setting costs what?",
            Self::Ab => "How much faster is this machine with all savings off?",
            Self::Factorial => "Which settings cost something only together?",
            Self::Ncq => "Does the drive gain from sorting its own queue?",
            Self::PcieLink => "Does the speed of the link to the drive matter?",
            Self::WaitMode => "Does it matter how a program waits for the drive?",
            Self::PowerPlan => "What does each power profile cost?",
        }
    }
}

impl FromStr for Design {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|d| d.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            format!("unknown design `{name}`{} (known are {})", did_you_mean(name, names), names.join(", "))
        })
    }
}

impl<'de> Deserialize<'de> for Design {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a knob is changed from, when it is changed alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// Everything else saves.
    AllSaving,
    /// Nothing else saves.
    AllPerformance,
    /// Both: a knob may matter only when the others are out of its way, or only on top of them.
    #[default]
    Both,
}

/// One step of a ladder, or one side of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(remote = "Self")]
pub struct Rung {
    /// Its name: "C1E off".
    pub name: String,
    /// Knob ids and values.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
}

/// A knob's value in a file; numbers may stand without quotes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Value(pub String);

/// An experiment, as asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(remote = "Self")]
pub struct ExperimentSpec {
    /// A label of the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How configurations are chosen.
    pub design: Design,
    /// Directory, file or block device; may come from the command line instead.
    #[serde(default)]
    pub target: String,
    /// What is run under each configuration; if empty every named workload, of a check the single reads.
    #[serde(default)]
    pub workloads: Vec<WorkloadChoice>,
    /// The knobs in question; all that can be set, and are not risky, if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub knobs: Vec<String>,
    /// The rungs of `ladder`, or the two sides of `ab`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rung: Vec<Rung>,
    /// Where `one-at-a-time` starts.
    #[serde(default)]
    pub from: Base,
    /// A cost in percent that matters: above 0, below 100.
    #[serde(default = "defaults::threshold_percent")]
    pub threshold_percent: f64,
    /// Goes on until every interval is no wider than plus or minus this many percent; otherwise until every knob has
    /// its verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision_percent: Option<f64>,
    /// Probability that all intervals of a metric hold together, at every look: 0.5 to 0.9999.
    #[serde(default = "defaults::confidence")]
    pub confidence: f64,
    /// Blocks before anything is concluded, 2 or more.
    #[serde(default = "defaults::min_blocks", deserialize_with = "whole::<2, MOST, _, _>")]
    pub min_blocks: u32,
    /// Blocks after which it ends, decided or not; at most [`MOST_BLOCKS`].
    #[serde(default = "defaults::max_blocks", deserialize_with = "whole::<2, MOST, _, _>")]
    pub max_blocks: u32,
    /// Measured time of each trial in s, 0.05 to 3600. Otherwise 0.5 s in a check, elsewhere 2 s for named workloads and
    /// their own `runtime` for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_seconds: Option<f64>,
    /// Takes the risk of risky knobs, such as the speed of a link, which may lose the drive until a reboot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub risk: bool,
    /// Seed of the random orders; drawn, and stored, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Largest `max_blocks`.
pub const MOST_BLOCKS: u32 = 10_000;
const MOST: u64 = MOST_BLOCKS as u64;

mod defaults {
    pub(super) fn threshold_percent() -> f64 {
        1.0
    }
    pub(super) fn confidence() -> f64 {
        0.95
    }
    pub(super) fn min_blocks() -> u32 {
        6
    }
    pub(super) fn max_blocks() -> u32 {
        60
    }
}

impl ExperimentSpec {
    /// An experiment of this design with the defaults for everything else.
    pub fn new(design: Design, target: impl Into<String>) -> Self {
        Self {
            name: None,
            design,
            target: target.into(),
            workloads: Vec::new(),
            knobs: Vec::new(),
            rung: Vec::new(),
            from: Base::default(),
            threshold_percent: defaults::threshold_percent(),
            precision_percent: None,
            confidence: defaults::confidence(),
            min_blocks: defaults::min_blocks(),
            max_blocks: defaults::max_blocks(),
            trial_seconds: None,
            risk: false,
            seed: None,
        }
    }

    /// The user's name for it, else the design's.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(self.design.name())
    }

    /// The workloads in full, each with its name. Unknown names are left out; [`Self::validate`] reports them.
    pub fn expanded_workloads(&self) -> Vec<Workload> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked: at most an hour")]
        let trial = self.trial_seconds.map(|s| Seconds(Micros((s * 1e6).round() as u64)));
        let check = self.design == Design::Check;
        let (names, usual): (&[&str], _) =
            if check { (&workloads::CHECK, workloads::CHECK_TRIAL) } else { (&workloads::NAMES, workloads::TRIAL) };
        if self.workloads.is_empty() {
            return names.iter().filter_map(|n| workloads::find(n, trial.unwrap_or(usual))).collect();
        }
        let trial = trial.or(check.then_some(usual));
        self.workloads.iter().filter_map(|w| w.expanded(trial)).flatten().collect()
    }

    /// The workload whose idle gap a sweep is to find before the first trial, if there is one.
    pub fn swept(&self) -> Option<Workload> {
        let wanted = |w: &Workload| {
            let label = w.label();
            label == workloads::COLD_SWEPT || self.design == Design::Check && label == workloads::COLD
        };
        self.expanded_workloads().into_iter().find(wanted)
    }

    /// The same with this gap in it, so that no sweep is needed any more.
    #[must_use]
    pub fn with_gap(&self, gap: Seconds) -> Self {
        let Some(swept) = self.swept() else { return self.clone() };
        let found = workloads::with_gap(&swept, gap);
        let names = || workloads::CHECK.map(|n| WorkloadChoice::Named(n.into())).to_vec();
        let asked = if self.workloads.is_empty() { names() } else { self.workloads.clone() };
        let label = |w: &WorkloadChoice| match w {
            WorkloadChoice::Named(name) => name.clone(),
            WorkloadChoice::Table(w) => w.label(),
        };
        // It may have been asked for by its name already.
        let mut left = if asked.iter().any(|w| label(w) == found.label()) { None } else { Some(found) };
        let mut workloads = Vec::new();
        for w in asked {
            match (label(&w) == swept.label(), &w) {
                (false, _) => workloads.push(w),
                (true, WorkloadChoice::Named(_)) => {
                    workloads.extend(left.take().map(|found| WorkloadChoice::Named(found.label())));
                }
                (true, WorkloadChoice::Table(_)) => {
                    workloads.extend(left.take().map(|found| WorkloadChoice::Table(Box::new(found))));
                }
            }
        }
        Self { workloads, ..self.clone() }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrNumber;
        impl serde::de::Visitor<'_> for TextOrNumber {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a knob's value as text (such as \"on\") or a whole number")
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(text.into())
            }
            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(Value(number.to_string()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(Value(number.to_string()))
            }
        }
        deserializer.deserialize_any(TextOrNumber)
    }
}

macro_rules! keyed {
    ($type:ty, $what:literal) => {
        impl Keyed for $type {
            const WHAT: &'static str = $what;
            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::deserialize(deserializer)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                strict(deserializer)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }
    };
}
keyed!(Rung, "a rung: name and set");
keyed!(ExperimentSpec, "an experiment: design, target, workloads, ...");
