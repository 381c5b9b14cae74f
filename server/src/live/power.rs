//! The stream of `/ws/power`: settings, and what the host does under them.

use super::hub::Stream;
use protocol::api::Role;
use protocol::error::ErrorBody;
use protocol::power::{PowerEvent, PowerState};
use protocol::telemetry::Telemetry;
use std::time::{Duration, Instant};

/// The settings as they were said last.
#[derive(Debug, Default)]
pub struct Power {
    state: PowerState,
    /// When unconfirmed settings fall back.
    falls_back: Option<Instant>,
    /// When the telemetry came.
    sampled: Option<Instant>,
}

/// Telemetry that is older says nothing of now.
const NOW: Duration = Duration::from_secs(5);

impl Power {
    /// The newest telemetry, while somebody watches it.
    pub(super) fn telemetry(&self) -> Option<&Telemetry> {
        self.state.telemetry.as_ref().filter(|_| self.sampled.is_some_and(|at| at.elapsed() < NOW))
    }

    fn falls_back_in(&mut self, confirm_ms: Option<f64>) {
        let left = |ms: f64| Duration::try_from_secs_f64(ms / 1000.0).ok();
        self.falls_back = confirm_ms.and_then(left).map(|left| Instant::now() + left);
    }
}

impl Stream for Power {
    type Event = PowerEvent;

    fn apply(&mut self, event: &PowerEvent) {
        match event {
            PowerEvent::Snapshot(state) => {
                self.state = (**state).clone();
                self.falls_back_in(state.confirm_ms);
            }
            PowerEvent::Knobs { knobs, removed, changed, confirm_ms } => {
                self.state.knobs.retain(|k| !removed.contains(&k.id));
                for knob in knobs {
                    match self.state.knobs.iter_mut().find(|k| k.id == knob.id) {
                        Some(known) => known.clone_from(knob),
                        None => self.state.knobs.push(knob.clone()),
                    }
                }
                self.state.changed = *changed;
                self.falls_back_in(*confirm_ms);
            }
            PowerEvent::Telemetry(sample) => {
                self.state.telemetry = Some((**sample).clone());
                self.sampled = Some(Instant::now());
            }
            PowerEvent::Drift { .. } | PowerEvent::Restored { .. } | PowerEvent::Error { .. } => {}
        }
    }

    fn snapshot(&self, _: Role) -> PowerEvent {
        let left = self.falls_back.map(|at| at.saturating_duration_since(Instant::now()).as_secs_f64() * 1000.0);
        PowerEvent::Snapshot(Box::new(PowerState { confirm_ms: left, ..self.state.clone() }))
    }

    fn error(error: ErrorBody) -> PowerEvent {
        PowerEvent::Error { error }
    }

    fn is_plain(_: &PowerEvent) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::knob::Knob;

    fn knob(id: &str, value: &str) -> Knob {
        Knob { id: id.into(), value: Some(value.into()), ..Knob::default() }
    }

    #[test]
    fn a_snapshot_has_each_knob_as_it_was_said_last() {
        let mut power = Power::default();
        let knobs = vec![knob("a", "1"), knob("b", "1"), knob("c", "1")];
        power.apply(&PowerEvent::Snapshot(Box::new(PowerState { knobs, ..PowerState::default() })));
        let (knobs, removed) = (vec![knob("b", "2"), knob("d", "1")], vec!["a".into()]);
        power.apply(&PowerEvent::Knobs { knobs, removed, changed: 1, confirm_ms: Some(60_000.0) });
        let PowerEvent::Snapshot(state) = power.snapshot(Role::Operator) else { panic!() };
        assert_eq!(state.knobs, [knob("b", "2"), knob("c", "1"), knob("d", "1")]);
        assert_eq!(state.changed, 1);
        assert!(state.confirm_ms.is_some_and(|ms| ms > 0.0 && ms <= 60_000.0));
    }
}
