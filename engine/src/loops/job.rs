//! What every measured loop needs: the job, the common start, the end, and how it fails.

use super::offsets::{Offsets, Range};
use crate::Control;
use crate::measure::meter::{Booker, Meter};
use protocol::workload::{RateProcess, Workload};
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Why a measured loop ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{} at offset {offset}: {source}", if *.read { "read" } else { "write" })]
    Access { read: bool, offset: u64, source: io::Error },
    #[error("read at offset {offset} got {got} of {wanted} bytes: it ends there")]
    EndOfFile { offset: u64, got: u32, wanted: u32 },
    #[error("{what}: {source}")]
    System { what: &'static str, source: io::Error },
}

/// Shared by all threads of a step.
pub(crate) struct StepGate {
    control: Control,
    /// Everybody meets here once set up, so that no job starts early: who is still missing, and the start time once
    /// nobody is.
    missing: Mutex<(usize, u64)>,
    complete: Condvar,
    ramp_ns: u64,
    run_ns: u64,
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

impl StepGate {
    /// For `threads` measuring threads and the one that called.
    pub(crate) fn new(workload: &Workload, control: &Control, threads: usize) -> Self {
        Self {
            control: control.clone(),
            missing: Mutex::new((threads + 1, 0)),
            complete: Condvar::new(),
            ramp_ns: workload.ramp_time.0.0 * 1000,
            run_ns: workload.runtime.0.0 * 1000,
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Waits until every thread is set up; then all get the same start time.
    pub(crate) fn start(&self) -> u64 {
        self.arrive();
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let met = self.complete.wait_while(missing, |(missing, _)| *missing > 0);
        met.unwrap_or_else(PoisonError::into_inner).1
    }

    /// Counts as set up without waiting: for a thread that could not be started.
    pub(crate) fn arrive(&self) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.0 = missing.0.saturating_sub(1);
        if missing.0 == 0 {
            missing.1 = crate::clock::now();
            self.complete.notify_all();
        }
    }

    pub(crate) fn ramp_end(&self, start: u64) -> u64 {
        start + self.ramp_ns
    }

    pub(crate) fn end(&self, start: u64) -> u64 {
        start + self.ramp_ns + self.run_ns
    }

    /// Whether to stop early: the user's wish, or another job's failure.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.control.is_stopped() || self.failed.load(Ordering::Relaxed)
    }

    /// Keeps the first failure and ends all jobs.
    pub(crate) fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Ends all jobs; the failure itself follows by [`Self::fail`].
    pub(crate) fn stop_others(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn take_failure(&self) -> Option<Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// One job of a step.
pub(crate) struct Job<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) fd: RawFd,
    pub(crate) number: u32,
    pub(crate) range: Range,
    pub(crate) gate: &'a StepGate,
    pub(crate) meter: &'a Meter,
}

impl<'a> Job<'a> {
    pub(crate) fn offsets(&self) -> Offsets {
        Offsets::new(self.workload, self.range, self.number)
    }

    pub(crate) fn booker(&self, start: u64) -> Booker<'a> {
        Booker::new(self.meter, start, self.gate.ramp_end(start), self.workload.rate_iops.is_some())
    }

    /// Whether accesses start at given times or after pauses, rather than as soon as a slot is free.
    pub(crate) fn paced(&self) -> bool {
        self.workload.rate_iops.is_some() || self.workload.thinktime.0 > 0
    }

    pub(crate) fn depth(&self) -> usize {
        self.workload.iodepth as usize
    }

    pub(crate) fn bs(&self) -> u32 {
        // Validated to be at most 64 MiB.
        u32::try_from(self.workload.bs.0).unwrap_or(u32::MAX)
    }
}

/// Intended start times of an open-loop job.
pub(crate) struct Schedule {
    mean_ns: f64,
    poisson: bool,
    next: f64,
}

impl Schedule {
    /// `None` for a closed loop.
    pub(crate) fn new(workload: &Workload, start: u64) -> Option<Self> {
        let mean_ns = 1e9 / workload.rate_iops?.0;
        Some(Self { mean_ns, poisson: workload.rate_process == RateProcess::Poisson, next: start as f64 })
    }

    /// The next intended start.
    pub(crate) fn next(&self) -> u64 {
        self.next as u64
    }

    /// Goes on to the one after.
    pub(crate) fn advance(&mut self, offsets: &mut Offsets) {
        self.next += if self.poisson { offsets.exponential(self.mean_ns) } else { self.mean_ns };
    }
}
