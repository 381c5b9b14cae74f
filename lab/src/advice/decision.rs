//! What to do with one knob, from what is known of its values and the value that the host was found with.
//!
//! Nothing follows from what is undecided, and no change from a saving that was not shown: such advice would be taken for
//! a finding, and exports would write it.

use crate::words::WAIT;
use protocol::experiment::{Effect, Finding};

/// Power in W below which a saving is none.
const SOME_POWER: f64 = 0.05;

/// What is to be decided of one knob.
pub(super) struct Question<'a> {
    pub(super) title: &'a str,
    /// The value that the host was found with; none of what is no knob of the host.
    pub(super) found: Option<&'a str>,
    /// What was measured, each on the metric that the verdict rests on.
    pub(super) effects: &'a [&'a Effect],
    pub(super) threshold_percent: f64,
}

/// What to do with it.
pub(super) struct Advice {
    pub(super) value: Option<String>,
    pub(super) keep_saving: Option<bool>,
    pub(super) sentence: String,
}

/// What is known of a value that saves, from all that was measured with it.
enum Known<'a> {
    /// It costs more than the threshold somewhere; there it is worst.
    Brake(&'a Effect),
    /// Something is undecided.
    Open(&'a Effect),
    /// It is known to cost no more than the threshold anywhere.
    Good,
}

impl<'a> Question<'a> {
    /// For speed: the value that saves where that costs nothing, else the one that performs. A change is advised only for
    /// what it is shown to gain.
    pub(super) fn to_perform(&self) -> Advice {
        let good: Vec<_> = self.values().into_iter().filter(|v| matches!(self.known(v), Known::Good)).collect();
        let gain = |v: &str| {
            let helps = self.with(v).into_iter().filter(|e| e.verdict == Finding::Helps);
            helps.max_by(|a, b| size(a).total_cmp(&size(b)))
        };
        let best = good.iter().filter(|v| gain(v).is_some());
        let best = best.max_by(|a, b| gain(a).map_or(0.0, size).total_cmp(&gain(b).map_or(0.0, size)));
        // Of several the one that gains most, or that is there already.
        if let Some(value) = best.or_else(|| good.iter().find(|v| self.is_found(v))).or(good.first()) {
            let helps = gain(value);
            return match (helps, self.saving(value)) {
                (Some(e), _) => self.take(value, true, &format!(". {}", e.sentence)),
                (None, Saving::Some(_)) => self.take(value, true, &self.free(value)),
                _ if self.found.is_none_or(|found| found == *value) => self.take(value, true, &self.free(value)),
                (None, saving) => self.stay(value, saving),
            };
        }
        let known = || self.values().into_iter().map(|v| self.known(v));
        let open = known().find_map(|k| if let Known::Open(e) = k { Some(e) } else { None });
        let brake = known().find_map(|k| if let Known::Brake(e) = k { Some(e) } else { None });
        match (open, brake) {
            (None, Some(e)) => self.take(&e.from, false, &format!(". {}", e.sentence)),
            (open, _) => self.unknown(open),
        }
    }

    /// For power: the value that saves, if its cost is known and it saves.
    pub(super) fn to_save(&self) -> Advice {
        let Some(value) = self.values().into_iter().next() else { return self.unknown(None) };
        let elsewhere = self.found.is_some_and(|found| found != value);
        match (self.known(value), self.saving(value)) {
            (Known::Open(e), _) => self.unknown(Some(e)),
            (Known::Brake(e), Saving::None) => {
                self.take(&e.from, false, &format!(": {value} saves no power here. {}", e.sentence))
            }
            (Known::Brake(e), Saving::Unknown) if elsewhere => {
                let Advice { value, keep_saving, sentence } = self.stay(value, Saving::Unknown);
                Advice { value, keep_saving, sentence: format!("{sentence} {}", e.sentence) }
            }
            (Known::Brake(e), _) => self.take(value, true, &format!(", if power matters more. {}", e.sentence)),
            (Known::Good, Saving::None) if elsewhere => self.stay(value, Saving::None),
            (Known::Good, _) => self.take(value, true, &self.free(value)),
        }
    }

    /// The values that save, in the order of the design.
    fn values(&self) -> Vec<&'a str> {
        let mut values: Vec<&str> = Vec::new();
        for e in self.effects {
            if !values.contains(&e.to.as_str()) {
                values.push(&e.to);
            }
        }
        values
    }

    fn with(&self, value: &str) -> Vec<&'a Effect> {
        self.effects.iter().copied().filter(|e| e.to == value).collect()
    }

    fn known(&self, value: &str) -> Known<'a> {
        let all = self.with(value);
        let brakes = all.iter().filter(|e| e.verdict == Finding::Brake);
        if let Some(worst) = brakes.min_by(|a, b| size(a).total_cmp(&size(b))) {
            return Known::Brake(worst);
        }
        all.iter().find(|e| e.verdict == Finding::Undecided).map_or(Known::Good, |e| Known::Open(e))
    }

    fn saving(&self, value: &str) -> Saving {
        match self.with(value).iter().find_map(|e| e.saves_w) {
            None => Saving::Unknown,
            Some(watts) if watts >= SOME_POWER => Saving::Some(watts),
            Some(_) => Saving::None,
        }
    }

    fn is_found(&self, value: &str) -> bool {
        self.found == Some(value)
    }

    /// Of a value that is known to cost nothing.
    fn free(&self, value: &str) -> String {
        let saves = match self.saving(value) {
            Saving::Some(watts) => format!(" and saves {watts:.1} W at idle"),
            Saving::Unknown if !self.is_found(value) => "; what it saves was not measured".into(),
            Saving::Unknown | Saving::None => String::new(),
        };
        format!(": it costs less than {} %{saves}.", self.threshold_percent)
    }

    /// A value, with the reason.
    fn take(&self, value: &str, keep_saving: bool, why: &str) -> Advice {
        let title = self.title;
        let sentence = match self.found {
            Some(found) if found == value => format!("Leave {title} at {value}{why}"),
            None if title == WAIT => format!("Let programs wait with {value}{why}"),
            Some(_) | None => format!("Set {title} to {value}{why}"),
        };
        Advice { value: Some(value.into()), keep_saving: Some(keep_saving), sentence }
    }

    /// The value as found, since another is not shown to gain anything.
    fn stay(&self, instead_of: &str, saving: Saving) -> Advice {
        let found = self.found.unwrap_or(instead_of);
        let why = match saving {
            Saving::None => format!("{instead_of} saves no power here"),
            Saving::Unknown | Saving::Some(_) => format!("what {instead_of} saves was not measured"),
        };
        let sentence = format!("Leave {} at {found}: {why}.", self.title);
        Advice { value: Some(found.into()), keep_saving: Some(false), sentence }
    }

    /// With what it takes to know.
    fn unknown(&self, open: Option<&Effect>) -> Advice {
        let why = open.map_or_else(|| format!("{}: nothing was measured.", self.title), |e| e.sentence.clone());
        Advice { value: None, keep_saving: None, sentence: format!("Not known yet. {why}") }
    }
}

/// In percent; below 0 it costs.
fn size(e: &Effect) -> f64 {
    e.estimate_percent.unwrap_or(0.0)
}

/// Power that a value saves at idle.
#[derive(Clone, Copy)]
enum Saving {
    /// So many W.
    Some(f64),
    /// None that can be told.
    None,
    /// It was not measured.
    Unknown,
}
