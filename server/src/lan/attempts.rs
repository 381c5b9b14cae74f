//! How often a password may be tried.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong passwords that one address may send in a [`WINDOW`].
const FOR_EACH_ADDRESS: u32 = 5;
/// Wrong passwords that all addresses together may send in it: working out a hash takes time from the measurement.
const TOGETHER: u32 = 60;
/// Time over which they count.
const WINDOW: Duration = Duration::from_mins(1);

/// Attempts since the beginning of the window.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    since: Option<Instant>,
    together: u32,
    of: HashMap<IpAddr, u32>,
}

impl Attempts {
    /// Counts an attempt, unless there were too many. It counts as wrong until it has shown to be right, so that many at
    /// the same time are not more. Says how long it is until there may be more.
    pub(super) fn may_try(&self, from: IpAddr) -> Result<(), Duration> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.since.is_none_or(|since| since.elapsed() > WINDOW) {
            *counts = Counts { since: Some(Instant::now()), ..Counts::default() };
        }
        let wait = counts.since.map_or(WINDOW, |since| WINDOW.saturating_sub(since.elapsed()));
        if counts.together >= TOGETHER {
            return Err(wait);
        }
        let of = counts.of.entry(from).or_default();
        if *of >= FOR_EACH_ADDRESS {
            return Err(wait);
        }
        *of += 1;
        counts.together += 1;
        Ok(())
    }

    /// Takes back an attempt that was right.
    pub(super) fn was_right(&self, from: IpAddr) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.together = counts.together.saturating_sub(1);
        if let Some(of) = counts.of.get_mut(&from) {
            *of = of.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_limited_one_by_one_and_together() {
        let attempts = Attempts::default();
        let address = |n: u8| IpAddr::from([192, 0, 2, n]);
        let may = |n: u8| attempts.may_try(address(n)).is_ok();
        assert!((0..5).all(|_| may(1)) && !may(1));
        assert!(attempts.may_try(address(1)).unwrap_err() <= WINDOW);
        attempts.was_right(address(1));
        assert!(may(1) && !may(1));
        let tried = (2..100).filter(|&n| may(n)).count();
        assert_eq!(tried, 55);
    }
}
