//! What is wrong with an experiment, as far as that can be said without a host.

use super::keys::did_you_mean;
use super::spec::{Design, ExperimentSpec, MOST_BLOCKS, Rung};
use super::workloads::{COLD_SWEPT, IDLE, NAMES, WorkloadChoice};
use crate::error::{ErrorBody, ErrorCode};
use crate::preset::PRESETS;
use crate::workload::WorkloadError;
use std::collections::BTreeSet;

/// Most workloads in one experiment.
const MOST_WORKLOADS: usize = 32;
/// Most knobs in one experiment.
const MOST_KNOBS: usize = 64;
/// Most rungs of a ladder.
const MOST_RUNGS: usize = 32;

/// Why an experiment cannot be run anywhere. Each message names the key, the value and what to write instead.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// A number outside its limits, or none at all.
    #[error("{key} is {value}; it must be {rule}")]
    Number {
        /// Which key.
        key: &'static str,
        /// What was given.
        value: f64,
        /// What would do.
        rule: &'static str,
    },
    /// Fewer blocks at most than at least.
    #[error("max_blocks is {max}, below min_blocks, which is {min}; make max_blocks at least {min}")]
    Blocks {
        /// Given `min_blocks`.
        min: u32,
        /// Given `max_blocks`.
        max: u32,
    },
    /// A workload that goes by no known name.
    #[error(
        "workloads: unknown workload `{name}`{hint} (known are {}, cold-read-TIME, or a table)",
        known().collect::<Vec<_>>().join(", ")
    )]
    UnknownWorkload {
        /// What was given.
        name: String,
        /// "; did you mean ...?", or nothing.
        hint: String,
    },
    /// A workload that cannot be run.
    #[error("workloads: {label}: {error}")]
    Workload {
        /// Its name.
        label: String,
        /// Why.
        error: WorkloadError,
    },
    /// The name of the trials that measure idle power.
    #[error("workloads: `{IDLE}` is the name of the trials that measure idle power; choose another")]
    Idle,
    /// The same name twice, in workloads, knobs or rungs.
    #[error("{key}: `{name}` stands there twice; {advice}")]
    Twice {
        /// Which key.
        key: &'static str,
        /// Which name.
        name: String,
        /// What to do.
        advice: &'static str,
    },
    /// Rungs that contradict each other or the design.
    #[error("rung: {0}")]
    Rung(String),
    /// Too many of something.
    #[error("{key} has {count} entries; at most {most} are possible")]
    TooMany {
        /// Which key.
        key: &'static str,
        /// How many.
        count: usize,
        /// The limit.
        most: usize,
    },
    /// A key that this design has no use for.
    #[error("{key} says nothing in the design {design}; {advice}")]
    NotHere {
        /// Which key.
        key: &'static str,
        /// The design.
        design: Design,
        /// What to do.
        advice: &'static str,
    },
    /// A target that is no path.
    #[error("target contains a NUL byte, which no path can")]
    Target,
}

impl From<SpecError> for ErrorBody {
    fn from(error: SpecError) -> Self {
        Self::new(ErrorCode::Usage, error.to_string())
    }
}

impl ExperimentSpec {
    /// Checks everything that depends neither on the host nor on the target.
    pub fn validate(&self) -> Result<(), SpecError> {
        self.check_numbers()?;
        if self.target.contains('\0') {
            return Err(SpecError::Target);
        }
        self.check_workloads()?;
        let few = |key, count, most| if count > most { Err(SpecError::TooMany { key, count, most }) } else { Ok(()) };
        few("knobs", self.knobs.len(), MOST_KNOBS)?;
        few("rung", self.rung.len(), MOST_RUNGS)?;
        unique("knobs", self.knobs.iter().map(String::as_str), "name each knob once")?;
        unique("rung", self.rung.iter().map(|r| r.name.as_str()), "give each rung a name of its own")?;
        self.check_rungs()
    }

    fn check_numbers(&self) -> Result<(), SpecError> {
        let check =
            |key, value: f64, ok: bool, rule| if ok { Ok(()) } else { Err(SpecError::Number { key, value, rule }) };
        let percent = |v: f64| v > 0.0 && v < 100.0;
        check("threshold_percent", self.threshold_percent, percent(self.threshold_percent), "above 0 and below 100")?;
        if let Some(precision) = self.precision_percent {
            check("precision_percent", precision, percent(precision), "above 0 and below 100")?;
        }
        let confidence = (0.5..=0.9999).contains(&self.confidence);
        check("confidence", self.confidence, confidence, "0.5 to 0.9999, such as 0.95")?;
        if let Some(seconds) = self.trial_seconds {
            check("trial_seconds", seconds, (0.05..=3600.0).contains(&seconds), "0.05 to 3600")?;
        }
        check("min_blocks", f64::from(self.min_blocks), self.min_blocks >= 2, "2 or more")?;
        if self.max_blocks < self.min_blocks {
            return Err(SpecError::Blocks { min: self.min_blocks, max: self.max_blocks });
        }
        check("max_blocks", f64::from(self.max_blocks), self.max_blocks <= MOST_BLOCKS, "10000 at most")
    }

    fn check_workloads(&self) -> Result<(), SpecError> {
        let count = self.workloads.len();
        if count > MOST_WORKLOADS {
            return Err(SpecError::TooMany { key: "workloads", count, most: MOST_WORKLOADS });
        }
        for choice in &self.workloads {
            if let (WorkloadChoice::Named(name), None) = (choice, choice.expanded(None)) {
                return Err(SpecError::UnknownWorkload { hint: did_you_mean(name, known()), name: name.clone() });
            }
        }
        let workloads = self.expanded_workloads();
        for w in &workloads {
            w.validate().map_err(|error| SpecError::Workload { label: w.label(), error })?;
        }
        let labels: Vec<_> = workloads.iter().map(crate::workload::Workload::label).collect();
        if labels.iter().any(|l| l == IDLE) {
            return Err(SpecError::Idle);
        }
        unique("workloads", labels.iter().map(String::as_str), "give each a `name` of its own")
    }

    fn check_rungs(&self) -> Result<(), SpecError> {
        let refuse = |m: String| Err(SpecError::Rung(m));
        match self.design {
            Design::Ladder | Design::Ab if self.rung.is_empty() => return Ok(()),
            Design::Ladder | Design::Ab => {}
            design if self.rung.is_empty() => {
                let fixed = matches!(design, Design::X58Gigabyte | Design::X58Supermicro | Design::WaitMode);
                let advice = "leave it out, or take the design ladder or one-at-a-time";
                let useless = fixed && !self.knobs.is_empty();
                return if useless { Err(SpecError::NotHere { key: "knobs", design, advice }) } else { Ok(()) };
            }
            design => {
                let advice = "leave it out, or take the design ladder or ab";
                return Err(SpecError::NotHere { key: "rung", design, advice });
            }
        }
        if !self.knobs.is_empty() {
            return refuse("the rungs name the knobs already; leave out either knobs or the rungs".into());
        }
        if let Some(n) = self.rung.iter().position(|r| r.name.trim().is_empty() || r.name.chars().count() > 100) {
            return refuse(format!("number {} needs a name of 1 to 100 characters", n + 1));
        }
        match (self.design, self.rung.as_slice()) {
            (Design::Ab, [a, b]) if a.set == b.set => refuse(format!("`{}` and `{}` are the same", a.name, b.name)),
            (Design::Ab, [_, _]) => Ok(()),
            (Design::Ab, rungs) => refuse(format!("ab compares two configurations; there are {}", rungs.len())),
            (_, [one]) => refuse(format!("`{}` stands alone; a ladder has at least two", one.name)),
            (_, rungs) => moves(rungs),
        }
    }
}

/// Names of workloads and of presets.
fn known() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain([COLD_SWEPT]).chain(PRESETS.iter().map(|p| p.name))
}

/// Each rung after the first must change something, or nothing could be learnt from it.
fn moves(rungs: &[Rung]) -> Result<(), SpecError> {
    let mut now = std::collections::BTreeMap::new();
    for (n, rung) in rungs.iter().enumerate() {
        let before = now.clone();
        now.extend(rung.set.iter());
        if n > 0 && now == before {
            return Err(SpecError::Rung(format!(
                "`{}` changes nothing that the rungs before it have not set so",
                rung.name
            )));
        }
    }
    Ok(())
}

fn unique<'a>(key: &'static str, names: impl Iterator<Item = &'a str>, advice: &'static str) -> Result<(), SpecError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(SpecError::Twice { key, name: name.to_owned(), advice });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ExperimentSpec, String> {
        let spec: ExperimentSpec = serde_json::from_str(json).map_err(|e| e.to_string())?;
        spec.validate().map_err(|e| e.to_string())?;
        Ok(spec)
    }

    #[test]
    fn a_sweep_leaves_the_gap_in_the_file() {
        let gap = crate::units::Seconds(crate::units::Micros(200_000));
        let check = read(r#"{"design":"check"}"#).unwrap();
        assert_eq!(check.swept().unwrap().label(), "cold-read");
        let labels = |spec: &ExperimentSpec| -> Vec<_> {
            spec.expanded_workloads().iter().map(crate::workload::Workload::label).collect()
        };
        assert_eq!(labels(&check.with_gap(gap)), ["4k-qd1", "4k-qd1-paced", "cold-read-200ms"]);
        assert_eq!(check.with_gap(gap).swept(), None);
        let both = read(r#"{"design":"ab","workloads":["cold-read-200ms","cold-read-sweep","cold-read"]}"#).unwrap();
        assert_eq!(labels(&both.with_gap(gap)), ["cold-read-200ms", "cold-read"]);
        both.with_gap(gap).validate().unwrap();
        let plain = read(r#"{"design":"ab","workloads":["cold-read"]}"#).unwrap();
        assert_eq!((plain.swept(), plain.with_gap(gap)), (None, plain.clone()));
        let sized =
            r#"{"design":"check","workloads":[{"name":"cold-read","rw":"randread","thinktime":"100ms","size":"8m"}]}"#;
        let sized = read(sized).unwrap().with_gap(gap);
        let w = sized.expanded_workloads().remove(0);
        assert_eq!((w.label(), w.size), ("cold-read-200ms".into(), Some(crate::units::Bytes(8 << 20))));
    }

    #[test]
    fn a_whole_file_is_read_and_written_back_the_same() {
        let json = r#"{"design":"ladder","target":"/mnt","workloads":["4k-qd1",{"name":"db","rw":"randread","bs":"8k"}],
            "rung":[{"name":"as is"},{"name":"no C6","set":{"cpu.deep-idle":"off","sata.ncq@sda":32}}],
            "threshold_percent":2,"seed":7}"#;
        let spec = read(json).unwrap();
        assert_eq!(spec.rung.last().unwrap().set.get("sata.ncq@sda"), Some(&"32".into()));
        assert_eq!((spec.confidence, spec.min_blocks, spec.max_blocks), (0.95, 6, 60));
        assert_eq!(read(&serde_json::to_string(&spec).unwrap()).unwrap(), spec);
    }

    #[test]
    fn what_is_wrong_is_named_with_what_would_be_right() {
        let rungs = |a: &str, b: &str| {
            format!(r#"{{"design":"ladder","rung":[{{"name":"a","set":{a}}},{{"name":"b","set":{b}}}]}}"#)
        };
        let cases = [
            (
                r#"{"design":"ab","treshold_percent":1}"#,
                "unknown key `treshold_percent`; did you mean `threshold_percent`?",
            ),
            (r#"{"design":"ladder","rung":[{"name":"a","sett":{}}]}"#, "unknown key `sett`; did you mean `set`?"),
            (r#"{"design":"factorail"}"#, "unknown design `factorail`; did you mean `factorial`?"),
            (r#"{"target":"/"}"#, "design"),
            (r#"{"design":"ab","threshold_percent":0}"#, "threshold_percent is 0"),
            (r#"{"design":"ab","threshold_percent":-1}"#, "threshold_percent is -1"),
            (r#"{"design":"ab","precision_percent":0}"#, "precision_percent is 0"),
            (r#"{"design":"ab","confidence":95}"#, "confidence is 95"),
            (r#"{"design":"ab","min_blocks":1}"#, "min_blocks is 1"),
            (r#"{"design":"ab","min_blocks":9,"max_blocks":8}"#, "max_blocks is 8, below min_blocks"),
            (r#"{"design":"ab","max_blocks":10001}"#, "max_blocks is 10001"),
            (r#"{"design":"ab","trial_seconds":0}"#, "trial_seconds is 0"),
            (r#"{"design":"ab","workloads":["4k-qd2"]}"#, "unknown workload `4k-qd2`; did you mean `4k-qd1`?"),
            (r#"{"design":"ab","workloads":["4k-qd1","4k-qd1"]}"#, "twice"),
            (r#"{"design":"ab","workloads":[{"rw":"read","iodepth":0}]}"#, "iodepth"),
            (r#"{"design":"factorial","knobs":["cpu.smt","cpu.smt"]}"#, "`cpu.smt` stands there twice"),
            (r#"{"design":"ncq","rung":[{"name":"a"}]}"#, "rung says nothing in the design ncq"),
            (r#"{"design":"wait-mode","knobs":["cpu.smt"]}"#, "knobs says nothing"),
            (r#"{"design":"ab","rung":[{"name":"a"}]}"#, "ab compares two"),
            (r#"{"design":"ab","knobs":["x"],"rung":[{"name":"a"},{"name":"b"}]}"#, "leave out either"),
            (&rungs(r#"{"k":"1"}"#, r#"{"k":"1"}"#), "changes nothing"),
            (&rungs(r#"{"k":true}"#, "{}"), "a knob's value"),
        ];
        for (json, word) in cases {
            let error = read(json).unwrap_err();
            assert!(error.contains(word), "{json}: {error}");
        }
        let not_a_number = ExperimentSpec { threshold_percent: f64::NAN, ..ExperimentSpec::new(Design::Ab, "/") };
        assert!(not_a_number.validate().unwrap_err().to_string().contains("NaN"));
    }

    #[test]
    fn every_design_has_its_defaults() {
        for design in Design::ALL {
            let json = format!(r#"{{"design":"{design}"}}"#);
            assert_eq!(read(&json).unwrap(), ExperimentSpec::new(design, ""));
        }
    }
}
