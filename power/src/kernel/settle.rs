//! Settings that take effect after the write has returned, and proofs of effect beyond reading back.

use super::Kernel;
use crate::nvme;
use crate::site::Site;
use std::time::{Duration, Instant};

/// The error handler of libata changes link power; it is given this long.
const SATA: Duration = Duration::from_secs(2);
/// A work item of cpufreq puts new limits in force; it is given this long.
const LIMITS: Duration = Duration::from_millis(500);
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl Kernel {
    /// Waits until a setting that was written at this time is in force, or could be. On the running machine only.
    pub fn settle(&self, site: &Site, wanted: &str, written: Instant) {
        if !self.root().is_live() {
            return;
        }
        match site {
            Site::SataPolicy { host } => self.settle_port(*host),
            Site::FrequencyFloor { .. } => {
                while written.elapsed() < LIMITS && self.read(site).is_ok_and(|now| now != wanted) {
                    std::thread::sleep(LOOK_EVERY);
                }
            }
            _ => {}
        }
    }

    fn settle_port(&self, host: u32) {
        let state = format!("/sys/class/scsi_host/host{host}/state");
        let end = Instant::now() + SATA;
        // The handler is woken by the write and starts a moment later: not yet in recovery is not over.
        std::thread::sleep(5 * LOOK_EVERY);
        while self.root().read(&state).is_some_and(|s| s.contains("recovery")) && Instant::now() < end {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Asks the device itself whether a value is in force, where it can be asked; if not so, says it in words.
    pub fn proof(&self, site: &Site, value: &str) -> Result<(), String> {
        match site {
            Site::Apst { controller } if value == "0" => match nvme::apst_enabled(self.root(), controller) {
                Ok(true) => Err(format!("{controller} itself says that its power state transitions are still on")),
                Ok(false) | Err(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
