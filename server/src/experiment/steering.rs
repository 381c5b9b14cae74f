//! Stop, pause and go on, said from outside to an experiment that is on.

use engine::Control;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Steers one experiment; clones steer the same one.
#[derive(Debug, Clone, Default)]
pub struct Steering {
    control: Control,
    wheel: Arc<Wheel>,
}

#[derive(Debug, Default)]
struct Wheel {
    paused: Mutex<bool>,
    changed: Condvar,
}

impl Steering {
    /// Ends the experiment, whether it pauses or not: within 100 ms plus the device's own latency.
    pub fn stop(&self) {
        // Stopped under the lock, so that nobody begins to wait who has not seen it.
        let paused = self.paused();
        self.control.stop();
        drop(paused);
        self.wheel.changed.notify_all();
    }

    /// Pauses after the trial that is on, or goes on.
    pub fn pause(&self, paused: bool) {
        *self.paused() = paused;
        self.wheel.changed.notify_all();
    }

    /// Whether it is to pause.
    pub fn is_paused(&self) -> bool {
        *self.paused()
    }

    /// What the engine looks at.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Waits until it goes on or is stopped.
    pub(super) fn wait(&self) {
        let over = |paused: &mut bool| *paused && !self.control.is_stopped();
        drop(self.wheel.changed.wait_while(self.paused(), over));
    }

    fn paused(&self) -> MutexGuard<'_, bool> {
        self.wheel.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_when_it_goes_on_and_when_it_is_stopped() {
        for end in [|s: &Steering| s.pause(false), Steering::stop] {
            let steering = Steering::default();
            steering.pause(true);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| steering.wait());
                assert!(!waiting.is_finished());
                end(&steering);
                waiting.join().unwrap();
            });
        }
    }
}
