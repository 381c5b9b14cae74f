//! What makes a trial void, and waiting for a quiet machine.

use super::hand::Hand;
use super::rehearse::differing;
use super::steering::Steering;
use power::Root;
use power::telemetry::{Options, Sampler};
use protocol::error::ErrorBody;
use protocol::experiment::Configuration;
use protocol::result::{CaveatKind, StepResult};
use std::time::{Duration, Instant};

/// Share of the machine's CPU time in use above which it counts as busy while we do nothing.
const BUSY: f64 = 0.25;
const WINDOW: Duration = Duration::from_millis(500);
/// Pause after the processor has throttled.
const COOL: Duration = Duration::from_secs(10);

/// Watches the conditions of a measurement from one trial to the next.
#[derive(Debug)]
pub(super) struct Guard {
    sampler: Sampler,
    on_ac: Option<bool>,
    throttled: Option<u64>,
    /// Time that is left for waiting for a quiet machine, and for repeating what was measured while it was busy.
    patience: Duration,
}

/// Why a trial does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Void {
    /// Other programs kept the CPUs busy.
    Busy(String),
    /// The processor throttled.
    Hot(String),
    /// Anything else.
    Other(String),
}

impl Void {
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Busy(reason) | Self::Hot(reason) | Self::Other(reason) => reason,
        }
    }
}

impl Guard {
    /// `patience` is the time in all that may be spent on a busy machine.
    pub(super) fn new(root: &Root, patience: Duration) -> Self {
        let sampler = Sampler::new(root.clone(), Options { poll_drive_sensors: false });
        let mut guard = Self { sampler, on_ac: None, throttled: None, patience };
        guard.look();
        guard
    }

    /// Notes how things are before a trial.
    pub(super) fn look(&mut self) {
        let now = self.sampler.sample(None);
        (self.on_ac, self.throttled) = (now.supply.on_ac, now.throttled);
    }

    /// Looks at everything after a trial.
    pub(super) fn judge(
        &mut self,
        hand: &Hand,
        configuration: &Configuration,
        result: &StepResult,
        took: Duration,
    ) -> Result<Option<Void>, ErrorBody> {
        let (on_ac, throttled) = (self.on_ac, self.throttled);
        self.look();
        if !configuration.set.is_empty() {
            let ours = |id: &str| configuration.set.iter().any(|a| a.id == id);
            if let Some(drift) = hand.drift()?.into_iter().find(|d| ours(&d.id)) {
                let now = drift.now.as_deref().unwrap_or("unknown");
                return Ok(Some(Void::Other(format!("{} was changed to {now} by somebody else", drift.id))));
            }
            if let Some(why) = differing(&hand.list()?.knobs, configuration) {
                return Ok(Some(Void::Other(format!("{why}, after the trial"))));
            }
        }
        if on_ac != self.on_ac {
            return Ok(Some(Void::Other("AC power changed".into())));
        }
        if throttled.zip(self.throttled).is_some_and(|(before, now)| now > before) {
            return Ok(Some(Void::Hot("the processor throttled".into())));
        }
        let busy = result.caveats.iter().find(|c| c.kind == CaveatKind::BusyMachine);
        Ok(busy.filter(|_| self.spend(took)).map(|c| Void::Busy(c.message.clone())))
    }

    /// Whether there is patience for a trial that took so long to be repeated.
    fn spend(&mut self, took: Duration) -> bool {
        let had = !self.patience.is_zero();
        self.patience = self.patience.saturating_sub(took);
        had
    }

    /// Waits after a void trial until the next one has a chance.
    pub(super) fn recover(&mut self, void: &Void, steering: &Steering, say: &mut dyn FnMut(String)) {
        match void {
            Void::Other(_) => {}
            Void::Hot(_) => {
                say(format!("The processor throttled; cooling down for {} s.", COOL.as_secs()));
                steering.control().pause(COOL);
            }
            Void::Busy(_) => self.wait_for_quiet(steering, say),
        }
    }

    fn wait_for_quiet(&mut self, steering: &Steering, say: &mut dyn FnMut(String)) {
        let began = Instant::now();
        let mut told = false;
        while began.elapsed() < self.patience && !steering.control().is_stopped() && !steering.is_paused() {
            let before = cpu_time();
            steering.control().pause(WINDOW);
            match share(before, cpu_time()) {
                Some(share) if share > BUSY => {
                    if !std::mem::replace(&mut told, true) {
                        let percent = share * 100.0;
                        say(format!(
                            "Other programs use {percent:.0} % of the CPUs: waiting until they end, for {:.0} s at most.",
                            self.patience.as_secs_f64()
                        ));
                    }
                }
                _ => break,
            }
        }
        self.patience = self.patience.saturating_sub(began.elapsed());
        if self.patience.is_zero() {
            say("The machine stays busy: measuring all the same. Intervals will be wider, and it will take longer."
                .into());
        }
    }
}

/// Busy and total time of all CPUs of the machine that measures, in ticks (proc(5)). Not of a recorded one.
fn cpu_time() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("cpu "))?;
    // User, nice, system, idle, iowait, irq, softirq, steal.
    let ticks: Vec<u64> = line.split_ascii_whitespace().take(8).map_while(|t| t.parse().ok()).collect();
    let (total, idle) = (ticks.iter().sum::<u64>(), ticks.iter().skip(3).take(2).sum::<u64>());
    Some((total.saturating_sub(idle), total))
}

fn share(before: Option<(u64, u64)>, now: Option<(u64, u64)>) -> Option<f64> {
    let ((busy, total), (busy_now, total_now)) = before.zip(now)?;
    let passed = total_now.saturating_sub(total);
    (passed > 0).then(|| busy_now.saturating_sub(busy) as f64 / passed as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busy_share_is_over_the_time_between() {
        assert_eq!(share(Some((100, 1000)), Some((150, 1100))), Some(0.5));
        assert_eq!(share(Some((100, 1000)), Some((100, 1000))), None);
        assert_eq!(share(None, Some((1, 2))), None);
        assert!(cpu_time().is_some_and(|(busy, total)| busy <= total));
    }
}
