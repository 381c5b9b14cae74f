//! Knobs as a design sees them: two values, one that saves and one that performs.

use super::idle;
use super::plan::PlanError;
use protocol::experiment::keys::did_you_mean;
use protocol::experiment::{Configuration, ExperimentSpec, Unmapped};
use protocol::knob::{Assignment, Knob};

/// A knob between two of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factor {
    /// Its id.
    pub id: String,
    /// The value that saves.
    pub saving: String,
    /// The value that performs.
    pub performance: String,
}

impl Factor {
    /// The knob's own pair; `None` if it has none, or cannot be set.
    pub fn of(knob: &Knob) -> Option<Self> {
        let (saving, performance) = (knob.saving_value.clone()?, knob.performance_value.clone()?);
        (knob.writable && saving != performance).then(|| Self { id: knob.id.clone(), saving, performance })
    }
}

/// The part of a knob's id before the device: `sata.ncq` of `sata.ncq@sda`.
pub(crate) fn kind(id: &str) -> &str {
    id.split_once('@').map_or(id, |(kind, _)| kind)
}

/// The value of a knob before anything was changed.
pub(super) fn as_found(knob: &Knob) -> Option<String> {
    knob.original.clone().or_else(|| knob.value.clone())
}

/// The knob of this id, if it is here and can be set.
pub(super) fn settable<'a>(knobs: &'a [Knob], id: &str) -> Result<&'a Knob, PlanError> {
    let unknown =
        || PlanError::UnknownKnob { id: id.into(), hint: did_you_mean(id, knobs.iter().map(|k| k.id.as_str())) };
    let knob = knobs.iter().find(|k| k.id == id).ok_or_else(unknown)?;
    if knob.writable {
        return Ok(knob);
    }
    let reason = knob.reason.clone().unwrap_or_else(|| "the kernel offers no way".into());
    Err(PlanError::ReadOnly { id: id.into(), reason })
}

/// Kinds of knobs that stand back where another one is there: both reach the same hardware, so that either alone would
/// seem to do nothing while the other holds it.
const STANDS_BACK: [(&str, &str); 6] = [
    ("cpu.latency-limit", "cpu.deep-idle"),
    ("pcie.aspm-l0s", "pcie.aspm"),
    ("pcie.aspm-l1", "pcie.aspm"),
    ("pcie.aspm-l1.1", "pcie.aspm"),
    ("pcie.aspm-l1.2", "pcie.aspm"),
    ("pcie.clock-pm", "pcie.aspm"),
];

/// The knobs that are tried when none is named: settable, without risk, with two values, each reaching something of its
/// own.
pub(super) fn harmless(knobs: &[Knob]) -> impl Iterator<Item = Factor> {
    let usable = |k: &&Knob| k.risk.is_none() && Factor::of(k).is_some();
    let stands_back = move |k: &&Knob| {
        let other = STANDS_BACK.iter().find(|(back, _)| *back == kind(&k.id)).map(|(_, other)| *other);
        other.is_some_and(|other| knobs.iter().filter(usable).any(|o| kind(&o.id) == other))
    };
    knobs.iter().filter(usable).filter(move |k| !stands_back(k)).filter_map(Factor::of)
}

/// The knobs named in the spec, each of which must have a pair of values; the harmless ones if none is named. Beside
/// them, what cannot be tried with the others.
pub(super) fn factors(spec: &ExperimentSpec, knobs: &[Knob]) -> Result<(Vec<Factor>, Vec<Unmapped>), PlanError> {
    let named = |id: &String| {
        let knob = settable(knobs, id)?;
        Factor::of(knob).ok_or_else(|| PlanError::NoPair { id: id.clone() })
    };
    let mut factors = match spec.knobs.as_slice() {
        [] => harmless(knobs).collect(),
        ids => ids.iter().map(named).collect::<Result<Vec<_>, _>>()?,
    };
    let left_out = idle::apart(&mut factors);
    Ok((factors, left_out.into_iter().collect()))
}

/// A configuration that gives each factor the value that `pick` picks.
pub(super) fn configuration(
    name: impl Into<String>,
    factors: &[Factor],
    pick: impl Fn(usize, &Factor) -> bool,
) -> Configuration {
    let value = |(i, f): (usize, &Factor)| {
        let value = if pick(i, f) { &f.saving } else { &f.performance };
        Assignment { id: f.id.clone(), value: value.clone() }
    };
    Configuration { name: name.into(), set: factors.iter().enumerate().map(value).collect(), wait: None }
}
