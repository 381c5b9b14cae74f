//! What an experiment runs and compares.

use super::{factorial, ladder, single, x58};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{Base, Configuration, Design, ExperimentSpec, SpecError, Stage, Unmapped};
use protocol::knob::Knob;
use protocol::workload::Wait;

/// What of a host matters to a plan.
#[derive(Debug, Clone, Copy)]
pub struct Host<'a> {
    /// Its knobs.
    pub knobs: &'a [Knob],
    /// The ways to wait that its kernel has.
    pub waits: &'a [Wait],
}

/// A comparison: a sum over configurations that is 0 if nothing matters.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// The knob, rung, or mode in question.
    pub knob: String,
    /// What it is compared with: the value for performance.
    pub from: String,
    /// The value in question: the one that saves.
    pub to: String,
    /// What the other knobs are at, where the design has a choice.
    pub base: Option<Base>,
    /// The stage it belongs to, where the design has stages.
    pub stage: Option<Stage>,
    /// Indices of configurations and their weights, which add up to 0. The effect is the weighted sum of the logarithms
    /// of performance.
    pub weights: Vec<(usize, f64)>,
}

/// What two knobs do together beyond what each does.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// The pair, or all pairs that this design cannot tell apart.
    pub knobs: Vec<[String; 2]>,
    /// As in [`Contrast`].
    pub weights: Vec<(usize, f64)>,
}

/// What an experiment runs and compares on one host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// What is run in each block, once each.
    pub configurations: Vec<Configuration>,
    /// What is compared. Each gets a verdict per workload.
    pub contrasts: Vec<Contrast>,
    /// Interactions of two knobs.
    pub joints: Vec<Joint>,
    /// What the design asks for and this host has not.
    pub unmapped: Vec<Unmapped>,
}

impl Plan {
    /// The plan without configurations that turned out not to be possible, each with the reason: two settings that the
    /// kernel does not take together, for example. What would be compared with them is shown as unmapped.
    #[must_use]
    pub fn without(&self, impossible: &[(usize, String)]) -> Self {
        let reason = |c: usize| impossible.iter().find(|(i, _)| *i == c).map(|(_, reason)| reason.as_str());
        let mut new_index = Vec::new();
        let mut plan = Self { unmapped: self.unmapped.clone(), ..Self::default() };
        for (i, c) in self.configurations.iter().enumerate() {
            new_index.push(plan.configurations.len());
            if reason(i).is_none() {
                plan.configurations.push(c.clone());
            }
        }
        let moved = |weights: &[(usize, f64)]| -> Result<Vec<(usize, f64)>, &str> {
            let one = |(c, weight): &(usize, f64)| match (reason(*c), new_index.get(*c)) {
                (None, Some(index)) => Ok((*index, *weight)),
                (said, _) => Err(said.unwrap_or("it is not in the plan")),
            };
            weights.iter().map(one).collect()
        };
        for contrast in &self.contrasts {
            match moved(&contrast.weights) {
                Ok(weights) => plan.contrasts.push(Contrast { weights, ..contrast.clone() }),
                // What is only confirmed otherwise has still been screened.
                Err(_) if contrast.stage == Some(Stage::Confirmation) => {}
                Err(reason) => plan.unmapped.push(Unmapped {
                    setting: format!("{}: {} against {}", contrast.knob, contrast.to, contrast.from),
                    reason: reason.to_owned(),
                }),
            }
        }
        let joints = self.joints.iter();
        plan.joints = joints.filter_map(|j| Some(Joint { weights: moved(&j.weights).ok()?, ..j.clone() })).collect();
        plan
    }
}

/// Why an experiment cannot be planned on this host.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// It could not be planned on any.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// No knob of this id here.
    #[error("knobs: unknown knob `{id}`{hint}")]
    UnknownKnob {
        /// What was given.
        id: String,
        /// "; did you mean ...?", or nothing.
        hint: String,
    },
    /// A knob that cannot be set here.
    #[error("knobs: {id} cannot be set here: {reason}")]
    ReadOnly {
        /// Which.
        id: String,
        /// Why, in words.
        reason: String,
    },
    /// A value that the knob does not take.
    #[error("rung: {id} does not take `{value}`{hint} (it takes {})", .values.join(", "))]
    UnknownValue {
        /// Which knob.
        id: String,
        /// What was given.
        value: String,
        /// "; did you mean ...?", or nothing.
        hint: String,
        /// What it takes.
        values: Vec<String>,
    },
    /// A knob between whose values nothing is to be compared.
    #[error(
        "knobs: {id} has no value that saves power and another that performs; use the design ladder with values of your own"
    )]
    NoPair {
        /// Which.
        id: String,
    },
    /// A risky knob, and nobody has taken the risk.
    #[error("knobs: {id} is risky: {why}; `risk = true` takes the risk")]
    Risky {
        /// Which.
        id: String,
        /// Why, in words.
        why: String,
    },
    /// A rung that cannot be had.
    #[error("rung `{rung}`: {reason}")]
    Contradiction {
        /// Its name.
        rung: String,
        /// Why, and what to do.
        reason: String,
    },
    /// Nothing left to compare.
    #[error("{design}: {reason}")]
    Nothing {
        /// The design.
        design: Design,
        /// Why, and what to do.
        reason: String,
    },
}

impl From<PlanError> for ErrorBody {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::ReadOnly { .. } | PlanError::Risky { .. } => {
                Self::new(ErrorCode::NotPermitted, error.to_string())
            }
            _ => Self::new(ErrorCode::Usage, error.to_string()),
        }
    }
}

/// Plans an experiment on a host; everything that can be wrong with it but the target is found here.
pub fn plan(spec: &ExperimentSpec, host: Host<'_>) -> Result<Plan, PlanError> {
    spec.validate()?;
    let plan = match spec.design {
        Design::Check => single::check(spec, host.knobs),
        Design::OneAtATime => single::one_at_a_time(spec, host.knobs),
        Design::Ncq => single::levels(spec, host.knobs, "sata.ncq"),
        Design::PcieLink => single::levels(spec, host.knobs, "pcie.link-speed"),
        Design::PowerPlan => single::power_plan(spec, host.knobs),
        Design::WaitMode => Ok(single::wait_modes(host.waits)),
        Design::Ladder => ladder::ladder(spec, host.knobs),
        Design::Ab => ladder::ab(spec, host.knobs),
        Design::X58Gigabyte => x58::plan(spec, host.knobs, &x58::GIGABYTE),
        Design::X58Supermicro => x58::plan(spec, host.knobs, &x58::SUPERMICRO),
        Design::Factorial => factorial::plan(spec, host.knobs),
    }?;
    if plan.contrasts.is_empty() {
        let reason = "there is nothing to compare: no knob can be set here, or all values are the same".into();
        return Err(PlanError::Nothing { design: spec.design, reason });
    }
    match risky(&plan, host.knobs) {
        Some((id, why)) if !spec.risk => Err(PlanError::Risky { id: id.to_owned(), why: why.to_owned() }),
        _ => Ok(plan),
    }
}

/// The first risky knob that is set, and why it is risky.
fn risky<'a>(plan: &Plan, knobs: &'a [Knob]) -> Option<(&'a str, &'a str)> {
    let set = |k: &Knob| plan.configurations.iter().flat_map(|c| &c.set).any(|a| a.id == k.id);
    knobs.iter().find_map(|k| Some((k.id.as_str(), k.risk.as_deref()?)).filter(|_| set(k)))
}
