//! The instants at which reads are answered.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A timer may come so late; the rest of a wait is spun away.
const SPUN: Duration = Duration::from_micros(150);

/// How fast a drive is.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// From a read's coming to its answer.
    pub read: Duration,
    /// Bytes a second, of all reads together.
    pub bandwidth: u32,
}

/// What all reads of a drive share.
#[derive(Debug)]
pub(super) struct Clock {
    pace: Pace,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When the last byte on its way has passed.
    busy_until: Instant,
    /// Times as long as usual.
    times: f64,
}

impl Clock {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, state: Mutex::new(State { busy_until: Instant::now(), times: 1.0 }) }
    }

    /// Makes every read from now on take so many times as long.
    pub(super) fn slow(&self, times: f64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).times = times;
    }

    /// Waits for as long as a read of so many bytes takes that has come just now.
    pub(super) fn wait(&self, bytes: usize) {
        let now = Instant::now();
        let at = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let transfer = Duration::from_secs_f64(bytes as f64 / f64::from(self.pace.bandwidth) * state.times);
            state.busy_until = state.busy_until.max(now) + transfer;
            state.busy_until + self.pace.read.mul_f64(state.times)
        };
        std::thread::sleep(at.saturating_duration_since(now).saturating_sub(SPUN));
        while Instant::now() < at {
            std::hint::spin_loop();
        }
    }
}
