//! The measured loop as async Rust services do it: one tokio-uring task per slot, asleep in `epoll_wait`.

use super::buffers::{Buffers, SlotBuf};
use super::job::{Failure, Job, Schedule};
use super::offsets::Offsets;
use super::ring::Setup;
use super::uring::why_not_registered;
use crate::clock;
use crate::measure::meter::Booker;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime};
use std::cell::{Cell, RefCell};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, OwnedFd};
use tokio::io::unix::AsyncFd;
use tokio_uring::buf::BoundedBuf;
use tokio_uring::buf::fixed::{FixedBuf, FixedBufRegistry};
use tokio_uring::fs::File;

/// Longest sleep while waiting for a start, so that a stop is noticed.
const NAP: u64 = 50_000_000;

struct Tasks<'j, 'g> {
    job: &'j Job<'g>,
    file: ManuallyDrop<File>,
    buffers: Buffers,
    offsets: RefCell<Offsets>,
    schedule: RefCell<Option<Schedule>>,
    booker: RefCell<Booker<'g>>,
    in_flight: Cell<u32>,
    end: u64,
}

/// A slot's memory, registered with the ring or not.
enum Held {
    Fixed(FixedBuf),
    Plain(SlotBuf),
}

/// Runs the job to its end on the tokio-uring runtime it is called in.
pub(crate) async fn run(job: &Job<'_>, buffers: Buffers) -> (Setup, Result<(), Failure>) {
    let mut setup = Setup::default();
    let registry = FixedBufRegistry::new((0..job.depth()).map(|i| buffers.slot(i)));
    let registered = registry.register();
    match &registered {
        Ok(()) => setup.features.push("registered-buffers".into()),
        Err(e) => setup.fallbacks.push(format!("registered buffers: {}", why_not_registered(e))),
    }
    let held: Vec<Held> = (0..job.depth())
        .map(|i| match registry.check_out(i) {
            Some(fixed) if registered.is_ok() => Held::Fixed(fixed),
            _ => Held::Plain(buffers.slot(i)),
        })
        .collect();
    // SAFETY: the descriptor is open and stays so: the run owns it, and `ManuallyDrop` keeps this from closing it.
    let file = ManuallyDrop::new(File::from_std(unsafe { std::fs::File::from_raw_fd(job.fd) }));
    let start = job.gate.start();
    let tasks = Tasks {
        job,
        file,
        buffers,
        offsets: RefCell::new(job.offsets()),
        schedule: RefCell::new(Schedule::new(job.workload, start)),
        booker: RefCell::new(job.booker(start)),
        in_flight: Cell::new(0),
        end: job.gate.end(start),
    };
    let mut slots: FuturesUnordered<_> = held.into_iter().enumerate().map(|(i, held)| tasks.slot(i, held)).collect();
    let mut outcome = Ok(());
    while let Some(ended) = slots.next().await {
        if let Err(failure) = ended
            && outcome.is_ok()
        {
            job.gate.stop_others();
            outcome = Err(failure);
        }
    }
    drop(slots);
    let _ = registry.unregister();
    (setup, outcome)
}

impl Tasks<'_, '_> {
    fn over(&self, now: u64) -> bool {
        now >= self.end || self.job.gate.stopped()
    }

    /// One slot: access after access until time is up.
    async fn slot(&self, index: usize, mut held: Held) -> Result<(), Failure> {
        let timer = if self.job.paced() { Some(Timer::new()?) } else { None };
        let think = self.job.workload.thinktime.0 * 1000;
        let bs = self.job.bs() as usize;
        let mut turn = 0;
        loop {
            let intended = self.take_start();
            if let (Some(timer), Some(at)) = (&timer, intended) {
                timer.until(at, || self.over(clock::now())).await?;
            }
            let submitted = clock::now();
            if self.over(submitted) {
                return Ok(());
            }
            let (offset, read) = self.offsets.borrow_mut().next();
            turn += u64::from(!read);
            let at = if read { 0 } else { self.buffers.write_at(index, turn) };
            self.in_flight.set(self.in_flight.get() + 1);
            let (result, back) = held.access(&self.file, read, at..at + bs, offset).await;
            held = back;
            let now = clock::now();
            self.in_flight.set(self.in_flight.get() - 1);
            match result {
                Ok(n) if n == bs => {}
                Ok(n) => return Err(Failure::EndOfFile { offset, got: n as u32, wanted: bs as u32 }),
                Err(source) => return Err(Failure::Access { read, offset, source }),
            }
            self.book(read, now, submitted, intended.unwrap_or(submitted));
            if let (Some(timer), 1..) = (&timer, think) {
                timer.until(now + think, || self.over(clock::now())).await?;
            }
        }
    }

    fn book(&self, read: bool, now: u64, submitted: u64, intended: u64) {
        let mut booker = self.booker.borrow_mut();
        booker.tick(now);
        booker.book(read, now, submitted, intended);
        booker.done(now, self.in_flight.get());
    }

    /// The next intended start of an open loop.
    fn take_start(&self) -> Option<u64> {
        let mut schedule = self.schedule.borrow_mut();
        let schedule = schedule.as_mut()?;
        let at = schedule.next();
        schedule.advance(&mut self.offsets.borrow_mut());
        Some(at)
    }
}

impl Held {
    /// One access with the bytes `range` of the slot's memory.
    async fn access(
        self,
        file: &File,
        read: bool,
        range: std::ops::Range<usize>,
        at: u64,
    ) -> (io::Result<usize>, Self) {
        match (self, read) {
            (Self::Fixed(buf), true) => {
                let (result, buf) = file.read_fixed_at(buf.slice(range), at).await;
                (result, Self::Fixed(buf.into_inner()))
            }
            (Self::Fixed(buf), false) => {
                let (result, buf) = file.write_fixed_at(buf.slice(range), at).await;
                (result, Self::Fixed(buf.into_inner()))
            }
            (Self::Plain(buf), true) => {
                let (result, buf) = file.read_at(buf.slice(range), at).await;
                (result, Self::Plain(buf.into_inner()))
            }
            (Self::Plain(buf), false) => {
                let (result, buf) = file.write_at(buf.slice(range), at).submit().await;
                (result, Self::Plain(buf.into_inner()))
            }
        }
    }
}

/// A timer of full resolution; tokio's own have 1 ms.
struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    fn new() -> Result<Self, Failure> {
        let made = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC);
        // SAFETY: `OwnedFd` keeps the descriptor open for as long as it is registered, and is not replaced.
        let timer = made.map_err(io::Error::from).and_then(|fd| unsafe { AsyncFd::register(fd) }.map_err(Into::into));
        timer.map(Self).map_err(|source| Failure::System { what: "make a timer", source })
    }

    /// Sleeps until the clock shows `deadline` or `over` says so.
    async fn until(&self, deadline: u64, over: impl Fn() -> bool) -> Result<(), Failure> {
        let failed = |source| Failure::System { what: "wait for a start", source };
        loop {
            let now = clock::now();
            if now >= deadline || over() {
                return Ok(());
            }
            let it_value = clock::timespec(deadline.min(now + NAP));
            let it = Itimerspec { it_interval: clock::timespec(0), it_value };
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::ABSTIME, &it).map_err(|e| failed(e.into()))?;
            let mut guard = self.0.readable().await.map_err(failed)?;
            let mut expirations = [0u8; 8];
            // Nothing to read means that it has not expired yet; the loop looks at the clock again.
            let _ = rustix::io::read(self.0.get_ref(), &mut expirations);
            guard.clear_ready();
        }
    }
}
