//! What one measuring thread tells the rest of the engine while it runs.

use super::cpu::{ThreadCpu, uring_workers};
use super::recorder::Recorder;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};
use std::sync::{Mutex, PoisonError};

/// Recorders of both directions. `read` and `write` count from the intended start, the `clat` pair from submission.
pub(crate) struct Flows {
    pub(crate) read: Recorder,
    pub(crate) write: Recorder,
    pub(crate) read_clat: Recorder,
    pub(crate) write_clat: Recorder,
}

impl Flows {
    fn new() -> Self {
        Self { read: Recorder::new(), write: Recorder::new(), read_clat: Recorder::new(), write_clat: Recorder::new() }
    }
}

/// Written by one measuring thread, read by the sampler.
pub(crate) struct Meter {
    pub(crate) ramp: Flows,
    pub(crate) measured: Flows,
    pub(crate) in_flight: AtomicU32,
    /// Thread id, for its CPU clock; 0 before it runs.
    pub(crate) tid: AtomicI32,
    /// Clock at the last completion that was booked as measured.
    pub(crate) last: AtomicU64,
    /// CPU time when measuring began, and over the measured time once it ended. Written twice per step.
    cpu: Mutex<(ThreadCpu, ThreadCpu)>,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Self {
            ramp: Flows::new(),
            measured: Flows::new(),
            in_flight: AtomicU32::new(0),
            tid: AtomicI32::new(0),
            last: AtomicU64::new(0),
            cpu: Mutex::new(Default::default()),
        }
    }

    /// Says that the calling thread is the one that measures.
    pub(crate) fn adopt(&self) {
        self.tid.store(rustix::thread::gettid().as_raw_nonzero().get(), Relaxed);
    }

    #[cold]
    fn cpu_begins(&self) {
        self.cpu.lock().unwrap_or_else(PoisonError::into_inner).0 = ThreadCpu::mine();
    }

    /// To be called by the measuring thread when its loop has ended, with its ring still open.
    pub(crate) fn cpu_ends(&self) {
        let mut cpu = self.cpu.lock().unwrap_or_else(PoisonError::into_inner);
        cpu.1 = ThreadCpu::mine().since(cpu.0).plus(uring_workers(self.tid.load(Relaxed)));
    }

    /// CPU time over the measured time.
    pub(crate) fn cpu(&self) -> ThreadCpu {
        self.cpu.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// The writing side of a [`Meter`]: books each completion in the phase it completed in.
pub(crate) struct Booker<'a> {
    meter: &'a Meter,
    flows: &'a Flows,
    /// Clock at which the ramp ends; `u64::MAX` once it has.
    ramp_end: u64,
    open_loop: bool,
}

impl<'a> Booker<'a> {
    /// Starts at `start`, which is when measuring starts too if there is no ramp.
    pub(crate) fn new(meter: &'a Meter, start: u64, ramp_end: u64, open_loop: bool) -> Self {
        let mut booker = Self { meter, flows: &meter.ramp, ramp_end, open_loop };
        booker.tick(start);
        booker
    }

    /// Says what time it is; to be called before booking what completed at `now`.
    #[inline]
    pub(crate) fn tick(&mut self, now: u64) {
        if now >= self.ramp_end {
            self.flows = &self.meter.measured;
            self.ramp_end = u64::MAX;
            self.meter.cpu_begins();
        }
    }

    /// Books a completion at `now` of an access that was submitted and intended at these times.
    #[inline]
    pub(crate) fn book(&self, read: bool, now: u64, submitted: u64, intended: u64) {
        let (lat, clat) =
            if read { (&self.flows.read, &self.flows.read_clat) } else { (&self.flows.write, &self.flows.write_clat) };
        lat.record(now.saturating_sub(intended));
        if self.open_loop {
            clat.record(now.saturating_sub(submitted));
        }
    }

    /// Whether latency counts from intended starts.
    #[inline]
    pub(crate) fn open_loop(&self) -> bool {
        self.open_loop
    }

    /// Notes how many accesses are in flight.
    #[inline]
    pub(crate) fn in_flight(&self, in_flight: u32) {
        self.meter.in_flight.store(in_flight, Relaxed);
    }

    /// Notes the time of the batch just booked and how many accesses are in flight.
    #[inline]
    pub(crate) fn done(&self, now: u64, in_flight: u32) {
        self.meter.last.store(now, Relaxed);
        self.meter.in_flight.store(in_flight, Relaxed);
    }
}
