//! What the broker does for each verb.

use super::connection::{Caller, Listing};
use super::device::open_device;
use super::meters::Meters;
use super::wire::{Answer, Verb, Wish};
use crate::control::Hints;
use crate::keeper::{Keeper, Scope};
use crate::profile_daemon;
use crate::root::Root;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Knob, Lifetime};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Time for which an answer of the profile daemon is good enough.
const AGE: Duration = Duration::from_secs(1);

/// The hands of the broker.
#[derive(Debug)]
pub(super) struct Acts {
    pub(super) root: Root,
    pub(super) keeper: Keeper,
    pub(super) meters: Meters,
    pub(super) hints: Known,
    pub(super) experiment: Experiment,
}

/// What is known of an experiment, whose settings may be as found just now.
#[derive(Debug, Default)]
pub(super) enum Experiment {
    /// None is on.
    #[default]
    None,
    /// One sets, and is on for so long unless it sets again.
    On(Instant),
    /// Somebody has put everything back under it, and it is to end for that.
    Taken(Instant),
}

impl Experiment {
    /// Whether one is on.
    fn is_on(&self) -> bool {
        matches!(self, Self::On(until) if Instant::now() < *until)
    }

    /// Whether one that is on is to end.
    fn is_taken(&self) -> bool {
        matches!(self, Self::Taken(until) if Instant::now() < *until)
    }
}

/// What whoever puts everything back is told while an experiment sets and puts back by itself.
const EXPERIMENTING: &str =
    "An experiment was on. It has lost its settings and ends with the trial that is on; it can be resumed.";
/// What the experiment is told when it sets the next time.
const TAKEN: &str = "Somebody put the settings back meanwhile, with `brakecheck restore`.";

/// What is known beyond the kernel's files, and since when: asking the profile daemon takes a connection each time.
#[derive(Debug, Default)]
pub(super) struct Known(Option<(Instant, Hints)>);

impl Known {
    fn hints(&mut self, root: &Root) -> Hints {
        match &self.0 {
            Some((since, hints)) if since.elapsed() < AGE => hints.clone(),
            _ => {
                let hints = Hints { profile_daemon: profile_daemon::look(root), ..Hints::default() };
                self.0 = Some((Instant::now(), hints.clone()));
                hints
            }
        }
    }
}

impl Acts {
    /// Does it. `listing` is what this caller was told last.
    pub(super) fn answer(
        &mut self,
        caller: Caller,
        listing: &mut Listing,
        verb: Verb,
    ) -> Result<(Answer, Option<OwnedFd>), ErrorBody> {
        let answer = match verb {
            Verb::List => {
                let state = self.keeper.list(&self.hints.hints(&self.root));
                *listing = Listing::of(&state.knobs);
                Answer::State { state: Box::new(state), digest: listing.digest }
            }
            Verb::Set { digest, .. } if digest != listing.digest => Answer::Stale,
            Verb::Set { lifetime: Lifetime::Session | Lifetime::Unconfirmed, .. } if caller != Caller::Server => {
                return Err(ErrorBody::new(
                    ErrorCode::Usage,
                    "A command line has no session that a setting could last.",
                ));
            }
            Verb::Set { lifetime: Lifetime::Kept | Lifetime::For { .. }, .. }
                if caller != Caller::Server && (self.experiment.is_on() || self.keeper.is_experimenting()) =>
            {
                return Err(ErrorBody::new(ErrorCode::Busy, "An experiment changes settings now.")
                    .hint("Stop or pause it on its page, or where it was started, then try again."));
            }
            Verb::Set { lifetime: Lifetime::Experiment { .. }, .. } | Verb::EndExperiment { over: false }
                if self.experiment.is_taken() =>
            {
                return Err(ErrorBody::new(ErrorCode::Interrupted, TAKEN).hint("Resume the experiment when you like."));
            }
            Verb::Set { wishes, lifetime, risk, .. } => {
                // Also where nothing has to be written: its values may be those that were found.
                if let Lifetime::Experiment { seconds } = lifetime {
                    self.experiment = Experiment::On(Instant::now() + Duration::from_secs(seconds.into()));
                }
                let wishes = wishes.iter().map(|w| listing.wish(w)).collect::<Result<Vec<_>, _>>()?;
                let hints = self.hints.hints(&self.root);
                // What the daemon says may be another thing now.
                self.hints = Known::default();
                Answer::Outcomes(self.keeper.set(&hints, &wishes, lifetime, risk)?)
            }
            Verb::Confirm => {
                self.keeper.confirm()?;
                Answer::Done
            }
            Verb::Restore { session: true, force } => Answer::Report(self.keeper.restore(Scope::Session, force)),
            Verb::Restore { session: false, force } => {
                let mut report = self.keeper.restore(Scope::All, force);
                if let Experiment::On(until) = self.experiment
                    && self.experiment.is_on()
                {
                    self.experiment = Experiment::Taken(until);
                    report.notes.push(EXPERIMENTING.into());
                }
                Answer::Report(report)
            }
            Verb::EndExperiment { over } => {
                if over {
                    self.experiment = Experiment::None;
                }
                Answer::Report(self.keeper.restore(Scope::Experiment, false))
            }
            Verb::Script => Answer::Script(self.keeper.script()),
            Verb::Drift => Answer::Drift(self.keeper.drift()),
            Verb::Renew => Answer::Done,
            Verb::Energy => Answer::Energy(self.meters.read(&self.root)),
            Verb::OpenDevice { major, minor, direct } => {
                return Ok((Answer::Device, Some(open_device((major, minor), direct)?)));
            }
        };
        Ok((answer, None))
    }
}

impl Listing {
    fn of(knobs: &[Knob]) -> Self {
        let knobs: Vec<_> = knobs.iter().map(|k| (k.id.clone(), k.values.clone())).collect();
        let mut hasher = DefaultHasher::new();
        knobs.hash(&mut hasher);
        Self { digest: hasher.finish(), knobs }
    }

    fn wish(&self, wish: &Wish) -> Result<Assignment, ErrorBody> {
        let get = || {
            let (id, values) = self.knobs.get(usize::try_from(wish.knob).ok()?)?;
            let value = values.get(usize::try_from(wish.value).ok()?)?;
            Some(Assignment { id: id.clone(), value: value.clone() })
        };
        let (knob, value) = (wish.knob, wish.value);
        get().ok_or_else(|| ErrorBody::new(ErrorCode::Usage, format!("There is no value {value} of knob {knob}.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_in_the_list_cannot_be_wished_for() {
        let knob = |id: &str, values: &[&str]| Knob {
            id: id.into(),
            values: values.iter().map(ToString::to_string).collect(),
            ..Knob::default()
        };
        let listing = Listing::of(&[knob("a", &["on", "off"]), knob("b", &[])]);
        let wished = listing.wish(&Wish { knob: 0, value: 1 }).unwrap();
        assert_eq!((wished.id.as_str(), wished.value.as_str()), ("a", "off"));
        for (knob, value) in [(0, 2), (1, 0), (2, 0), (u32::MAX, u32::MAX)] {
            assert_eq!(listing.wish(&Wish { knob, value }).unwrap_err().code, ErrorCode::Usage);
        }
        assert_ne!(listing.digest, Listing::of(&[knob("a", &["off", "on"]), knob("b", &[])]).digest);
    }
}
