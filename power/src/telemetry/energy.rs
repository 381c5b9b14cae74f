//! Power from two readings of the energy meters.

use super::meters;
use crate::desk::Meter;
use crate::root::Root;
use protocol::telemetry::EnergySample;
use std::time::Duration;

/// No package draws this much. A meter that was reset (suspend does) looks as if it had wrapped at enormous power.
const MOST_WATTS: f64 = 5000.0;

/// Keeps the readings of last time.
#[derive(Debug, Default)]
pub(super) struct Energy {
    last: Option<(Duration, Vec<Meter>)>,
}

impl Energy {
    /// Mean power since the last readings, taken `at`; the first ones give names without power.
    pub(super) fn sample(&mut self, at: Duration, now: &[Meter]) -> Vec<EnergySample> {
        let last = self.last.replace((at, now.to_vec()));
        // Meters of one name are told apart by their places, so the places must be the same.
        let last = last.filter(|(_, l)| l.iter().map(|m| &m.name).eq(now.iter().map(|m| &m.name)));
        let watts = |i: usize, meter: &Meter| {
            let (then, meters) = last.as_ref()?;
            let seconds = at.checked_sub(*then)?.as_secs_f64();
            watts(meters.get(i)?, meter, seconds)
        };
        now.iter().enumerate().map(|(i, m)| EnergySample { name: m.name.clone(), watts: watts(i, m) }).collect()
    }
}

/// `None` if the readings make no sense.
fn watts(last: &Meter, now: &Meter, seconds: f64) -> Option<f64> {
    let microjoules = match now.energy_uj.checked_sub(last.energy_uj) {
        Some(plain) => plain,
        None => now.range_uj.checked_sub(last.energy_uj)?.checked_add(now.energy_uj)?,
    };
    let watts = microjoules as f64 / 1e6 / seconds;
    (watts < MOST_WATTS).then_some(watts)
}

/// Why there is no power to show, in words.
pub(super) fn reason(root: &Root, readings: Option<&[Meter]>) -> Option<String> {
    if readings.is_some_and(|r| !r.is_empty()) {
        return None;
    }
    let words = if meters::exist(root) {
        "only root can read the energy meters: start with sudo"
    } else {
        "no energy meter: the processor has none, or a virtual machine hides it"
    };
    Some(words.into())
}
