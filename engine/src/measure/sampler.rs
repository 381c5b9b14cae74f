//! Twenty looks a second at what the measuring threads have booked.

use super::cpu::{MachineCpu, thread_cpu_ns};
use super::meter::{Flows, Meter};
use super::recorder::Tally;
use super::summary;
use protocol::sample::{Phase, SAMPLES_PER_SECOND, Sample};
use std::sync::atomic::Ordering::Relaxed;

/// Time between looks.
pub(crate) const INTERVAL_NS: u64 = 1_000_000_000 / SAMPLES_PER_SECOND as u64;

/// Completions of all meters, by direction.
#[derive(Clone)]
struct Look {
    read: Tally,
    write: Tally,
}

impl Look {
    fn new() -> Self {
        Self { read: Tally::new(), write: Tally::new() }
    }

    fn take(&mut self, meters: &[Meter], flows: impl Fn(&Meter) -> &Flows) {
        self.read.clear();
        self.write.clear();
        for meter in meters {
            flows(meter).read.add_to(&mut self.read);
            flows(meter).write.add_to(&mut self.write);
        }
    }
}

/// Makes the samples of one step.
pub(crate) struct Sampler<'a> {
    meters: &'a [Meter],
    bs: u64,
    start: u64,
    ramp_end: u64,
    end: u64,
    before: Look,
    now: Look,
    phase: Phase,
    last: u64,
    next: u64,
    cpu_ns: Vec<u64>,
    machine: Option<MachineCpu>,
    machine_share: Option<f64>,
}

impl<'a> Sampler<'a> {
    pub(crate) fn new(meters: &'a [Meter], bs: u64, start: u64, ramp_end: u64, end: u64) -> Self {
        let mut sampler = Self {
            meters,
            bs,
            start,
            ramp_end,
            end,
            before: Look::new(),
            now: Look::new(),
            phase: if ramp_end > start { Phase::Ramp } else { Phase::Measure },
            last: start,
            next: start,
            cpu_ns: vec![0; meters.len()],
            machine: MachineCpu::now(),
            machine_share: None,
        };
        sampler.engine_cpu(1);
        sampler.schedule();
        sampler
    }

    /// Clock at which the next look is due.
    pub(crate) fn due(&self) -> u64 {
        self.next
    }

    /// The next look comes one interval later, but exactly at the end of the ramp, and not shortly before the end
    /// of the step: what little comes after would make a jumpy last point.
    fn schedule(&mut self) {
        let next = self.next + INTERVAL_NS;
        self.next = match self.phase {
            Phase::Ramp => next.min(self.ramp_end),
            Phase::Measure if next <= self.end && next + INTERVAL_NS / 2 > self.end => self.end + INTERVAL_NS / 2,
            Phase::Measure => next,
        };
    }

    /// Whether the last look was the one that ended the ramp: what was measured since is still to be seen.
    pub(crate) fn ramp_just_ended(&self) -> bool {
        self.phase == Phase::Measure && self.last == self.ramp_end && self.ramp_end > self.start
    }

    /// Looks now.
    pub(crate) fn look(&mut self, now: u64) -> Sample {
        let ending_ramp = self.phase == Phase::Ramp && now >= self.ramp_end;
        // What was booked as measured while this look was late belongs to the next sample; so does its time.
        let until = if ending_ramp { self.ramp_end } else { now };
        let dt = until.saturating_sub(self.last).max(1);
        match self.phase {
            Phase::Ramp => self.now.take(self.meters, |m| &m.ramp),
            Phase::Measure => self.now.take(self.meters, |m| &m.measured),
        }
        let busy = self.machine_cpu();
        let sample = Sample {
            step: 0,
            phase: self.phase,
            t_ms: until.saturating_sub(self.start) as f64 / 1e6,
            dt_ms: dt as f64 / 1e6,
            read: summary::flow(&self.now.read, &self.before.read, self.bs, dt),
            write: summary::flow(&self.now.write, &self.before.write, self.bs, dt),
            in_flight: self.meters.iter().map(|m| m.in_flight.load(Relaxed)).sum(),
            engine_cpu: self.engine_cpu(dt),
            machine_cpu: busy,
            progress: 0.0,
            eta_ms: 0.0,
        };
        std::mem::swap(&mut self.before, &mut self.now);
        self.last = until;
        if ending_ramp {
            self.phase = Phase::Measure;
            self.before.read.clear();
            self.before.write.clear();
        }
        // A look that was late by more than an interval does not try to catch up.
        while self.next <= now {
            self.schedule();
        }
        sample
    }

    fn engine_cpu(&mut self, dt: u64) -> f64 {
        let mut used = 0;
        for (meter, before) in self.meters.iter().zip(&mut self.cpu_ns) {
            let tid = meter.tid.load(Relaxed);
            let Some(ns) = (tid != 0).then(|| thread_cpu_ns(tid)).flatten() else { continue };
            used += ns.saturating_sub(*before);
            *before = ns;
        }
        used as f64 / dt as f64
    }

    /// The kernel counts in ticks of 10 ms or so; between two ticks the last share stands.
    fn machine_cpu(&mut self) -> Option<f64> {
        let now = MachineCpu::now()?;
        if let Some(share) = self.machine.and_then(|before| now.busy_since(before)) {
            self.machine = Some(now);
            self.machine_share = Some(share);
        }
        self.machine_share
    }
}
