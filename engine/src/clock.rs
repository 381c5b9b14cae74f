//! The engine's clock: `CLOCK_MONOTONIC`, read through the vDSO (some 20 ns), in ns.

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

const SECOND: u64 = 1_000_000_000;

/// Now, in ns of `CLOCK_MONOTONIC`.
#[inline]
pub(crate) fn now() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec.cast_unsigned() * SECOND + t.tv_nsec.cast_unsigned()
}

/// Nanoseconds as the kernel takes them.
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / SECOND).cast_signed(), tv_nsec: (ns % SECOND).cast_signed() }
}

/// Sleeps until the clock shows `deadline`; returns at once if it already does. A signal may end the sleep early.
pub(crate) fn sleep_until(deadline: u64) {
    // EINTR is all that can go wrong with a valid clock and time; the callers' loops look at the clock again.
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(deadline));
}
