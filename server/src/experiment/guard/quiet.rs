//! Waiting until other programs leave the CPUs alone.

use crate::experiment::Steering;
use std::time::{Duration, Instant};

/// Share of the machine's CPU time in use above which it counts as busy while we do nothing.
const BUSY: f64 = 0.25;
const WINDOW: Duration = Duration::from_millis(500);

/// Said when there is no patience left.
pub(super) const STAYS_BUSY: &str =
    "The machine stays busy: measuring all the same. Intervals will be wider, and it will take longer.";

/// Waits until the machine is quiet or the patience is over; what is left of it.
pub(in crate::experiment) fn wait(patience: Duration, steering: &Steering, say: &mut dyn FnMut(String)) -> Duration {
    let began = Instant::now();
    let mut told = false;
    while began.elapsed() < patience && !steering.control().is_stopped() && !steering.is_paused() {
        let before = cpu_time();
        steering.control().pause(WINDOW);
        match share(before, cpu_time()) {
            Some(share) if share > BUSY => {
                if !std::mem::replace(&mut told, true) {
                    let (percent, seconds) = (share * 100.0, patience.as_secs_f64());
                    say(format!(
                        "Other programs use {percent:.0} % of the CPUs: waiting until they end, for {seconds:.0} s at most."
                    ));
                }
            }
            _ => break,
        }
    }
    let left = patience.saturating_sub(began.elapsed());
    if left.is_zero() {
        say(STAYS_BUSY.into());
    }
    left
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
