//! What viewers know, so that they are told only what is new.

use protocol::power::{Drift, PowerEvent, PowerState};

/// What was told last.
#[derive(Debug, Default)]
pub(super) struct Told {
    state: Option<PowerState>,
    drifts: Vec<Drift>,
}

impl Told {
    /// The event that brings viewers from what they know to `state`; none if they know it all. A change of what holds
    /// for the whole host (rights, daemons) is told as a whole.
    pub(super) fn news(&mut self, state: &PowerState) -> Option<PowerEvent> {
        let known = self.state.replace(state.clone());
        let whole = || Some(PowerEvent::Snapshot(Box::new(state.clone())));
        let Some(known) = known else { return whole() };
        if known.read_only != state.read_only || known.daemons != state.daemons {
            return whole();
        }
        let is_news = |k: &&protocol::knob::Knob| !known.knobs.contains(k);
        let knobs: Vec<_> = state.knobs.iter().filter(is_news).cloned().collect();
        let gone = |k: &&protocol::knob::Knob| state.knobs.iter().all(|n| n.id != k.id);
        let removed: Vec<_> = known.knobs.iter().filter(gone).map(|k| k.id.clone()).collect();
        let unconfirmed = state.confirm_ms.is_some();
        let same = knobs.is_empty() && removed.is_empty() && known.changed == state.changed;
        if same && known.confirm_ms.is_some() == unconfirmed {
            return None;
        }
        Some(PowerEvent::Knobs { knobs, removed, changed: state.changed, confirm_ms: state.confirm_ms })
    }

    /// Drifts that were not told yet. One that was mended and came back is told again.
    pub(super) fn new_drifts(&mut self, drifts: Vec<Drift>) -> Vec<Drift> {
        let new = drifts.iter().filter(|d| !self.drifts.contains(d)).cloned().collect();
        self.drifts = drifts;
        new
    }

    /// Whether anything is set by us, as far as was told.
    pub(super) fn is_changed(&self) -> bool {
        self.state.as_ref().is_some_and(|s| s.changed > 0)
    }

    /// Whether something falls back by itself soon.
    pub(super) fn is_unconfirmed(&self) -> bool {
        self.state.as_ref().is_some_and(|s| s.confirm_ms.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::knob::Knob;

    fn state(values: &[(&str, &str)]) -> PowerState {
        let knob =
            |(id, value): &(&str, &str)| Knob { id: (*id).into(), value: Some((*value).into()), ..Knob::default() };
        PowerState { knobs: values.iter().map(knob).collect(), ..PowerState::default() }
    }

    #[test]
    fn only_what_is_new_is_told() {
        let mut told = Told::default();
        assert!(matches!(told.news(&state(&[("a", "1"), ("b", "1")])), Some(PowerEvent::Snapshot(_))));
        assert_eq!(told.news(&state(&[("a", "1"), ("b", "1")])), None);
        let news = told.news(&state(&[("a", "2")]));
        let knobs = state(&[("a", "2")]).knobs;
        let wanted = PowerEvent::Knobs { knobs, removed: vec!["b".into()], changed: 0, confirm_ms: None };
        assert_eq!(news, Some(wanted));
        let counting = |ms| PowerState { confirm_ms: Some(ms), ..state(&[("a", "2")]) };
        assert!(told.news(&counting(15_000.0)).is_some());
        assert_eq!(told.news(&counting(14_000.0)), None, "the countdown runs at the viewer's");
        assert!(told.news(&state(&[("a", "2")])).is_some());
    }

    #[test]
    fn a_drift_is_told_once() {
        let drift = |now: &str| Drift { id: "a".into(), ours: "1".into(), now: Some(now.into()) };
        let mut told = Told::default();
        assert_eq!(told.new_drifts(vec![drift("2")]), [drift("2")]);
        assert_eq!(told.new_drifts(vec![drift("2")]), []);
        assert_eq!(told.new_drifts(vec![drift("3")]), [drift("3")]);
        assert_eq!(told.new_drifts(vec![]), []);
        assert_eq!(told.new_drifts(vec![drift("3")]), [drift("3")]);
    }
}
