//! The measured loop without `io_uring`: `pread` and `pwrite`, one thread per access in flight.

use super::buffers::Region;
use super::job::{Failure, Job, Schedule};
use super::offsets::Offsets;
use crate::clock;
use crate::file::random_data::{RandomData, stamp};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, PoisonError};

/// Longest sleep while waiting for a start, so that a stop is noticed.
const NAP: u64 = 50_000_000;

/// What the threads of one job share.
pub(crate) struct Cursor(Mutex<(Offsets, Option<Schedule>)>);

impl Cursor {
    pub(crate) fn new(job: &Job) -> Self {
        Self(Mutex::new((job.offsets(), None)))
    }

    /// The first thread to know the start time sets the schedule going.
    fn begin(&self, job: &Job, start: u64) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.1.is_none() {
            inner.1 = Schedule::new(job.workload, start);
        }
    }

    /// The next access and, in an open loop, its intended start.
    fn next(&self) -> (u64, bool, Option<u64>) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (offsets, schedule) = &mut *inner;
        let at = schedule.as_mut().map(|s| {
            let at = s.next();
            s.advance(offsets);
            at
        });
        let (offset, read) = offsets.next();
        (offset, read, at)
    }
}

/// Runs one thread's accesses to the end.
pub(crate) fn run(job: &Job, cursor: &Cursor, slot: u32) -> Result<(), Failure> {
    let bs = job.bs() as usize;
    let mut region = Region::new(bs).map_err(|source| Failure::System { what: "allocate a buffer", source })?;
    let seed = job.workload.randseed ^ (u64::from(job.number) << 32) ^ (u64::from(slot) << 16);
    RandomData::new(seed).fill(region.as_mut());
    let Some(buffer) = region.as_mut().get_mut(..bs) else { return Ok(()) };
    // SAFETY: the run keeps the descriptor open until all threads of the step have ended.
    let fd = unsafe { BorrowedFd::borrow_raw(job.fd) };
    let start = job.gate.start();
    cursor.begin(job, start);
    let (mut booker, end) = (job.booker(start), job.gate.end(start));
    let think = job.workload.thinktime.0 * 1000;
    let over = |now| now >= end || job.gate.stopped();
    let mut turn = 0u64;
    while !over(clock::now()) {
        let (offset, read, intended) = cursor.next();
        sleep(intended.unwrap_or(0), over);
        if !read {
            turn += 1;
            stamp(buffer, seed, turn);
        }
        let submitted = clock::now();
        if over(submitted) {
            break;
        }
        booker.in_flight(1);
        access(fd, read, buffer, offset)?;
        let now = clock::now();
        booker.tick(now);
        booker.book(read, now, submitted, intended.unwrap_or(submitted));
        booker.done(now, 0);
        if think > 0 {
            sleep(now + think, over);
        }
    }
    Ok(())
}

fn sleep(until: u64, over: impl Fn(u64) -> bool) {
    loop {
        let now = clock::now();
        if now >= until || over(now) {
            return;
        }
        clock::sleep_until(until.min(now + NAP));
    }
}

/// One whole access, continued where the kernel did only a part.
fn access(fd: BorrowedFd, read: bool, buffer: &mut [u8], offset: u64) -> Result<(), Failure> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|r| !r.is_empty()) {
        let at = offset + done as u64;
        let result = if read { rustix::io::pread(fd, rest, at) } else { rustix::io::pwrite(fd, rest, at) };
        match result {
            Ok(0) => return Err(Failure::EndOfFile { offset, got: done as u32, wanted: buffer.len() as u32 }),
            Ok(n) => done += n,
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(Failure::Access { read, offset: at, source: io::Error::from(e) }),
        }
    }
    Ok(())
}
