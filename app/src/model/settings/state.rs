//! What a snapshot of `/ws/power` gave, every event since, and what this page has asked for.

use super::history::History;
use protocol::error::ErrorBody;
use protocol::knob::{Assignment, Knob, Origin, Outcome, RestoreReport};
use protocol::power::{Drift, PowerEvent, PowerState, Profile};

/// Everything the page knows of the host's settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Settings {
    /// A snapshot came; before it, nothing is known.
    pub(crate) known: bool,
    /// As the server tells it.
    pub(crate) host: PowerState,
    /// What somebody else changed of ours, with what we had set.
    pub(crate) drifts: Vec<Drift>,
    /// How the last restore ended.
    pub(crate) report: Option<RestoreReport>,
    /// What went wrong with something this page asked for.
    pub(crate) error: Option<ErrorBody>,
    /// When unconfirmed settings fall back, in ms of this browser's clock.
    pub(crate) falls_back_at: Option<f64>,
    /// The last minute of telemetry.
    pub(crate) history: History,
    /// Asked for and not yet answered.
    pub(crate) wishes: Vec<Assignment>,
    /// Asked for and not done.
    pub(crate) undone: Vec<Outcome>,
    /// What is under way that concerns all settings.
    pub(crate) doing: Option<Deed>,
    /// What became of the last profile, in words.
    pub(crate) summary: Option<String>,
}

/// Something that concerns all settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// A profile is being set.
    Profile(Profile),
    /// What an experiment recommends is being set.
    Advice,
    /// Everything is being put back.
    Restore,
    /// What was unconfirmed is being kept.
    Confirm,
}

/// What an event changed, so that only that is drawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Settings.
    Settings,
    /// Telemetry.
    Load,
}

impl Settings {
    /// Applies one event at the time `now` of this browser's clock, in ms.
    pub(crate) fn apply(&mut self, event: PowerEvent, now: f64) -> Moved {
        match event {
            PowerEvent::Snapshot(state) => self.snapshot(*state, now),
            PowerEvent::Knobs { knobs, removed, changed, confirm_ms } => {
                self.host.knobs.retain(|k| !removed.contains(&k.id));
                for knob in knobs {
                    self.put(knob);
                }
                self.host.changed = changed;
                self.falls_back_at = confirm_ms.map(|ms| now + ms);
                self.tidy();
            }
            PowerEvent::Telemetry(sample) => {
                self.history.push(&sample);
                self.host.telemetry = Some(*sample);
                return Moved::Load;
            }
            PowerEvent::Drift { drifts } => {
                for drift in drifts {
                    if let Some(knob) = self.knob_mut(&drift.id) {
                        knob.origin = Origin::Foreign;
                        knob.value.clone_from(&drift.now);
                    }
                    self.drifts.retain(|d| d.id != drift.id);
                    self.drifts.push(drift);
                }
            }
            PowerEvent::Restored { report } => {
                self.undone.clear();
                self.report = Some(report);
            }
            PowerEvent::Error { error } => self.error = Some(error),
        }
        Moved::Settings
    }

    fn snapshot(&mut self, mut state: PowerState, now: f64) {
        self.known = true;
        self.falls_back_at = state.confirm_ms.map(|ms| now + ms);
        // A snapshot after a gap need not bring telemetry; the curve goes on with the next sample.
        if let Some(sample) = &state.telemetry {
            self.history.push(sample);
        } else {
            state.telemetry = self.host.telemetry.take();
        }
        self.host = state;
        self.tidy();
    }

    /// Nobody watches any more: what was measured grows old.
    pub(crate) fn forget_load(&mut self) {
        self.host.telemetry = None;
        self.history = History::default();
    }

    /// A knob.
    pub(crate) fn knob(&self, id: &str) -> Option<&Knob> {
        self.host.knobs.iter().find(|k| k.id == id)
    }

    fn knob_mut(&mut self, id: &str) -> Option<&mut Knob> {
        self.host.knobs.iter_mut().find(|k| k.id == id)
    }

    /// Knobs that somebody else changed after us.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = &Knob> {
        self.host.knobs.iter().filter(|k| k.origin == Origin::Foreign)
    }

    /// The value that was asked for and not yet answered.
    pub(crate) fn wish(&self, id: &str) -> Option<&str> {
        self.wishes.iter().rfind(|w| w.id == id).map(|w| w.value.as_str())
    }

    /// Puts a knob in the place of the one of the same id; a new one goes after the last of its kind.
    fn put(&mut self, knob: Knob) {
        if let Some(known) = self.knob_mut(&knob.id) {
            *known = knob;
            return;
        }
        let knobs = &mut self.host.knobs;
        let kind = super::kind(&knob.id);
        let like = knobs.iter().rposition(|k| super::kind(&k.id) == kind);
        let near = like.or_else(|| knobs.iter().rposition(|k| k.group == knob.group));
        knobs.insert(near.map_or(knobs.len(), |i| i + 1), knob);
    }

    /// Forgets what the knobs, as they are now, have overtaken.
    fn tidy(&mut self) {
        let knobs = &self.host.knobs;
        let find = |id: &str| knobs.iter().find(|k| k.id == id);
        self.drifts.retain(|d| find(&d.id).is_some_and(|k| k.origin == Origin::Foreign));
        self.undone.retain(|o| find(&o.id).is_some_and(|k| k.value.as_deref() != Some(&o.wanted)));
    }

    /// These were asked for.
    pub(crate) fn asked(&mut self, wishes: &[Assignment]) {
        self.error = None;
        self.report = None;
        self.summary = None;
        self.undone.retain(|o| wishes.iter().all(|w| w.id != o.id));
        self.wishes.extend_from_slice(wishes);
    }

    /// They were answered.
    pub(crate) fn answered(&mut self, wishes: &[Assignment], answer: Result<Vec<Outcome>, ErrorBody>) {
        self.wishes.retain(|w| !wishes.contains(w));
        match answer {
            Err(error) => self.error = Some(error),
            Ok(outcomes) => {
                for outcome in outcomes {
                    // The stream tells it too; until then the old value would flash up again.
                    if let (Some(knob), Some(value)) = (self.knob_mut(&outcome.id), &outcome.value) {
                        knob.value = Some(value.clone());
                    }
                    if !outcome.verdict.is_done() {
                        self.undone.retain(|o| o.id != outcome.id);
                        self.undone.push(outcome);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{knob, telemetry};
    use super::*;
    use protocol::error::ErrorCode;
    use protocol::knob::Verdict;

    fn settings(knobs: Vec<Knob>) -> Settings {
        let mut s = Settings::default();
        s.apply(PowerEvent::Snapshot(Box::new(PowerState { knobs, ..PowerState::default() })), 0.0);
        s
    }
    fn knobs(knobs: Vec<Knob>, removed: &[&str], confirm_ms: Option<f64>) -> PowerEvent {
        let removed = removed.iter().map(|&r| r.to_owned()).collect();
        PowerEvent::Knobs { changed: u32::try_from(knobs.len()).unwrap(), knobs, removed, confirm_ms }
    }
    fn ids(s: &Settings) -> Vec<&str> {
        s.host.knobs.iter().map(|k| k.id.as_str()).collect()
    }
    fn on_off(id: &str, value: &str) -> Knob {
        knob(id, value, &["on", "off"])
    }

    #[test]
    fn knobs_change_in_place_and_new_ones_stand_beside_their_like() {
        let mut s = settings(vec![on_off("a@1", "on"), on_off("a@2", "on"), on_off("b", "on")]);
        let changed = on_off("b", "off");
        s.apply(knobs(vec![changed.clone(), on_off("a@3", "on"), on_off("c", "on")], &["a@1"], None), 0.0);
        assert_eq!(ids(&s), ["a@2", "a@3", "b", "c"]);
        assert_eq!((s.knob("b"), s.host.changed), (Some(&changed), 3));
    }

    #[test]
    fn what_falls_back_does_so_by_this_clock() {
        let mut s = settings(vec![]);
        s.apply(knobs(vec![], &[], Some(15_000.0)), 1000.0);
        assert_eq!(s.falls_back_at, Some(16_000.0));
        s.apply(knobs(vec![], &[], None), 2000.0);
        assert_eq!(s.falls_back_at, None);
    }

    #[test]
    fn a_drift_stays_until_the_knob_is_ours_or_as_found() {
        let mut s = settings(vec![on_off("a", "off"), on_off("b", "off")]);
        let drift = |id: &str| Drift { id: id.into(), ours: "off".into(), now: Some("on".into()) };
        s.apply(PowerEvent::Drift { drifts: vec![drift("a"), drift("b")] }, 0.0);
        assert_eq!(s.foreign().count(), 2);
        assert_eq!(s.knob("a").unwrap().value.as_deref(), Some("on"));
        s.apply(knobs(vec![on_off("a", "off")], &[], None), 0.0);
        assert_eq!(s.drifts, [drift("b")]);
        s.apply(knobs(vec![], &["b"], None), 0.0);
        assert_eq!(s.drifts, []);
    }

    #[test]
    fn a_wish_shows_until_it_is_answered_and_what_is_not_done_until_it_is() {
        let mut s = settings(vec![on_off("a", "on")]);
        let wish = [Assignment { id: "a".into(), value: "off".into() }];
        s.asked(&wish);
        assert_eq!(s.wish("a"), Some("off"));
        let outcome = |value: &str, verdict| Outcome {
            id: "a".into(),
            wanted: "off".into(),
            value: Some(value.into()),
            verdict,
            message: None,
        };
        s.answered(&wish, Ok(vec![outcome("on", Verdict::Ignored)]));
        assert_eq!((s.wish("a"), s.undone.len()), (None, 1));
        s.apply(knobs(vec![on_off("a", "on")], &[], None), 0.0);
        assert_eq!(s.undone.len(), 1);
        s.apply(knobs(vec![on_off("a", "off")], &[], None), 0.0);
        assert_eq!(s.undone.len(), 0);
        s.answered(&wish, Err(ErrorBody::new(ErrorCode::NotPermitted, "needs root")));
        assert!(s.error.is_some());
        s.asked(&wish);
        assert!(s.error.is_none());
    }

    #[test]
    fn telemetry_goes_on_over_a_snapshot_and_ends_when_nobody_watches() {
        let mut s = settings(vec![]);
        assert_eq!(s.apply(PowerEvent::Telemetry(Box::new(telemetry(200.0))), 0.0), Moved::Load);
        s.apply(PowerEvent::Snapshot(Box::default()), 0.0);
        assert!(s.host.telemetry.is_some());
        s.forget_load();
        assert_eq!((s.host.telemetry, s.history), (None, History::default()));
    }
}
