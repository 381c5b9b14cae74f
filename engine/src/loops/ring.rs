//! The measured loop on a ring of one's own, after the manner of fio's `t/io_uring`.
//!
//! One system call submits what is ready and waits for the next completion; everything that completed is reaped at
//! once and its slots are filled again. Nothing is allocated or locked per access. The clock is read twice per
//! round: just before entering the kernel, and just after coming back.

use super::job::{Failure, Job, Schedule};
use super::slots::Slots;
use super::uring::{RingSupport, why_not_registered};
use crate::clock;
use crate::measure::meter::Booker;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{CompletionQueue, EnterFlags, IoUring, SubmissionQueue, Submitter, squeue};
use std::collections::VecDeque;
use std::io;

/// Longest sleep while nothing is in flight, so that a stop is noticed.
const NAP: u64 = 50_000_000;

/// How the loop waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    Enter,
    EnterNoIowait,
    Poll,
}

/// Features that were asked for and got, and those that were not.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) features: Vec<String>,
    pub(crate) fallbacks: Vec<String>,
}

/// A job on its ring, ready to start.
pub(crate) struct RingJob<'j, 'g> {
    job: &'j Job<'g>,
    ring: IoUring,
    slots: Slots,
    waiting: Waiting,
    pub(crate) setup: Setup,
}

impl<'j, 'g> RingJob<'j, 'g> {
    /// Makes the ring and registers file and buffers; what cannot be registered is done without, and said.
    pub(crate) fn new(job: &'j Job<'g>, mut slots: Slots, waiting: Waiting) -> Result<Self, Failure> {
        let support = RingSupport::get();
        let system = |what| move |source| Failure::System { what, source };
        let ring = support.ring(job.depth()).map_err(system("set up io_uring"))?;
        let mut setup = Setup { features: support.features(), fallbacks: Vec::new() };
        if slots.is_access() {
            match ring.submitter().register_files(&[job.fd]) {
                Ok(()) => setup.features.push("registered-file".into()),
                Err(e) => setup.fallbacks.push(format!("registered file: {e}")),
            }
            slots.fixed_file = setup.fallbacks.is_empty();
            // SAFETY: the buffers outlive the ring: both are owned by this value, and the ring is dropped first
            // (fields are dropped in the order of declaration).
            match unsafe { ring.submitter().register_buffers(&slots.buffers().iovecs()) } {
                Ok(()) => {
                    slots.fixed_buffers = true;
                    setup.features.push("registered-buffers".into());
                }
                Err(e) => setup.fallbacks.push(format!("registered buffers: {}", why_not_registered(&e))),
            }
        }
        Ok(Self { job, ring, slots, waiting, setup })
    }

    /// Runs the job to its end. Everything submitted has completed when it returns, whatever it returns.
    pub(crate) fn run(mut self) -> Result<(), Failure> {
        let (mut submitter, sq, cq) = self.ring.split();
        // Saves a descriptor lookup per call; without it (before Linux 5.18) all works the same.
        let _ = submitter.register_ring_fd();
        let start = self.job.gate.start();
        let booker = self.job.booker(start);
        let mut rounds = Rounds {
            submitter,
            sq,
            cq,
            flags: if self.waiting == Waiting::EnterNoIowait { EnterFlags::NO_IOWAIT } else { EnterFlags::empty() },
            poll: self.waiting == Waiting::Poll,
            end: self.job.gate.end(start),
            queued: Vec::with_capacity(self.slots.len()),
            unsubmitted: 0,
            in_flight: 0,
            completed: Vec::with_capacity(self.slots.len()),
            slots: &mut self.slots,
            job: self.job,
            booker,
        };
        let outcome = if self.job.paced() { rounds.paced(start) } else { rounds.closed() };
        let outcome = outcome.and_then(|()| rounds.drain());
        if outcome.is_err() {
            // The ring must not go while the kernel may still write into the buffers.
            while rounds.in_flight > 0 && rounds.drain().is_err() {}
        }
        self.job.meter.cpu_ends();
        // The kernel takes rings down in the background; the file would stay open, and its filesystem busy, meanwhile.
        let _ = rounds.submitter.unregister_files();
        outcome
    }
}

/// The state of a running loop.
struct Rounds<'r, 'j, 'g> {
    submitter: Submitter<'r>,
    sq: SubmissionQueue<'r>,
    cq: CompletionQueue<'r>,
    flags: EnterFlags,
    poll: bool,
    end: u64,
    /// Slots whose entries were pushed since the last submission.
    queued: Vec<u32>,
    /// Entries pushed but not yet taken by the kernel.
    unsubmitted: u32,
    /// Accesses submitted and not completed, `unsubmitted` included.
    in_flight: u32,
    /// Slots that became free in this round.
    completed: Vec<u32>,
    slots: &'r mut Slots,
    job: &'j Job<'g>,
    booker: Booker<'g>,
}

impl Rounds<'_, '_, '_> {
    /// As many accesses in flight as there are slots, until time is up.
    fn closed(&mut self) -> Result<(), Failure> {
        for slot in 0..self.slots.len() as u32 {
            self.queue(slot)?;
        }
        loop {
            self.submit(None)?;
            let now = self.reap()?;
            if now >= self.end || self.job.gate.stopped() {
                return Ok(());
            }
            while let Some(slot) = self.completed.pop() {
                self.queue(slot)?;
            }
        }
    }

    /// Accesses start at intended times (rate) or a pause after their predecessor (think time).
    fn paced(&mut self, start: u64) -> Result<(), Failure> {
        let think = self.job.workload.thinktime.0 * 1000;
        let mut schedule = Schedule::new(self.job.workload, start);
        let mut free: VecDeque<u32> = (0..self.slots.len() as u32).collect();
        let mut thinking: VecDeque<(u64, u32)> = VecDeque::with_capacity(self.slots.len());
        loop {
            let now = clock::now();
            if now >= self.end || self.job.gate.stopped() {
                return Ok(());
            }
            while thinking.front().is_some_and(|&(ready, _)| ready <= now) {
                free.extend(thinking.pop_front().map(|(_, slot)| slot));
            }
            while !free.is_empty() && schedule.as_ref().is_none_or(|s| s.next() <= now) {
                let Some(slot) = free.pop_front() else { break };
                self.queue(slot)?;
                if let (Some(s), Some(slot)) = (&mut schedule, self.slots.get(slot)) {
                    slot.intended = s.next();
                    s.advance(self.slots.offsets());
                }
            }
            let next_start = schedule.as_ref().filter(|_| !free.is_empty()).map_or(u64::MAX, Schedule::next);
            let next_ready = thinking.front().map_or(u64::MAX, |&(ready, _)| ready);
            let wake = next_start.min(next_ready).min(self.end);
            if self.in_flight > 0 {
                self.submit(Some(wake))?;
                let now = self.reap()?;
                while let Some(slot) = self.completed.pop() {
                    if think > 0 { thinking.push_back((now + think, slot)) } else { free.push_back(slot) }
                }
            } else if !self.poll {
                clock::sleep_until(wake.min(now + NAP));
            }
        }
    }

    /// Waits for everything in flight. Those completions count: they were started in time.
    fn drain(&mut self) -> Result<(), Failure> {
        while self.in_flight > 0 {
            self.submit(None)?;
            self.reap()?;
            self.completed.clear();
        }
        Ok(())
    }

    /// Pushes the slot's next access.
    #[inline]
    fn queue(&mut self, slot: u32) -> Result<(), Failure> {
        let entry = self.slots.next_entry(slot);
        self.push(slot, &entry)?;
        self.in_flight += 1;
        Ok(())
    }

    #[inline]
    fn push(&mut self, slot: u32, entry: &squeue::Entry) -> Result<(), Failure> {
        // SAFETY: buffers and file stay valid until the access completes: `RingJob` owns the former, the run the
        // latter, and `run` returns only when nothing is in flight.
        let pushed = unsafe { self.sq.push(entry) };
        pushed.map_err(|e| Failure::System { what: "queue an access", source: io::Error::other(e) })?;
        self.queued.push(slot);
        self.unsubmitted += 1;
        Ok(())
    }

    /// Stamps and submits what was queued, and waits for a completion (at most until `wake`) unless polling.
    #[inline]
    fn submit(&mut self, wake: Option<u64>) -> Result<(), Failure> {
        self.sq.sync();
        let now = clock::now();
        for index in self.queued.drain(..) {
            if let Some(slot) = self.slots.get(index) {
                slot.submitted = now;
                if !self.booker.open_loop() {
                    slot.intended = now;
                }
            }
        }
        if self.poll && self.unsubmitted == 0 && !self.sq.taskrun() {
            std::hint::spin_loop();
            return Ok(());
        }
        let want = u32::from(!self.poll);
        let flags = self.flags | EnterFlags::GETEVENTS;
        let entered = match wake {
            Some(wake) if !self.poll && RingSupport::get().ext_arg => {
                let nap = wake.saturating_sub(now).clamp(1, NAP);
                let timeout = Timespec::new().sec(0).nsec(nap as u32);
                let args = SubmitArgs::new().timespec(&timeout);
                let flags = (flags | EnterFlags::EXT_ARG).bits();
                // SAFETY: `args` is the structure that EXT_ARG announces, and lives through the call.
                unsafe { self.submitter.enter(self.unsubmitted, want, flags, Some(&args)) }
            }
            // SAFETY: no argument is passed.
            _ => unsafe { self.submitter.enter::<libc::sigset_t>(self.unsubmitted, want, flags.bits(), None) },
        };
        // The entries that the kernel took make room for new ones.
        self.sq.sync();
        match entered {
            Ok(taken) => {
                self.unsubmitted -= (taken as u32).min(self.unsubmitted);
                Ok(())
            }
            // A signal, a timeout, or a full completion queue: reap and come again.
            Err(e) if matches!(e.raw_os_error(), Some(libc::EINTR | libc::ETIME | libc::EBUSY | libc::EAGAIN)) => {
                Ok(())
            }
            Err(source) => Err(Failure::System { what: "io_uring_enter", source }),
        }
    }

    /// Books everything that completed and leaves its slots in `completed`. Returns the time.
    #[inline]
    fn reap(&mut self) -> Result<u64, Failure> {
        let now = clock::now();
        self.booker.tick(now);
        self.cq.sync();
        let mut failure = None;
        while let Some(cqe) = self.cq.next() {
            let index = cqe.user_data() as u32;
            match self.slots.complete(index, cqe.result()) {
                Ok(None) => {
                    if let Some(slot) = self.slots.get(index) {
                        self.booker.book(slot.read, now, slot.submitted, slot.intended);
                    }
                    self.completed.push(index);
                    self.in_flight -= 1;
                }
                Ok(Some(rest)) => self.resubmit(&rest)?,
                Err(e) => {
                    self.in_flight -= 1;
                    failure.get_or_insert(e);
                }
            }
        }
        self.booker.done(now, self.in_flight);
        failure.map_or(Ok(now), Err)
    }

    /// Submits the rest of a short access; its times stay those of the whole.
    #[cold]
    fn resubmit(&mut self, rest: &squeue::Entry) -> Result<(), Failure> {
        // SAFETY: as in `push`.
        let pushed = unsafe { self.sq.push(rest) };
        pushed.map_err(|e| Failure::System { what: "queue an access", source: io::Error::other(e) })?;
        self.unsubmitted += 1;
        Ok(())
    }
}
