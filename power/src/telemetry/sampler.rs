//! One sample after the other.

use super::cpus::Cpus;
use super::energy::{self, Energy};
use super::kernel_file::Budget;
use super::pressure::Pressure;
use super::{sensors, supply};
use crate::desk::Meter;
use crate::drive;
use crate::root::Root;
use protocol::telemetry::{LinkSample, SupplySample, Telemetry, TemperatureSample};
use std::time::{Duration, Instant};

/// How often the sensors of the host and the supplies are read.
const HOST_EVERY: Duration = Duration::from_secs(1);
/// How often drives are asked.
const DRIVES_EVERY: Duration = Duration::from_secs(10);
/// How often it is looked whether there are other files than before.
const DISCOVER_EVERY: Duration = Duration::from_secs(2);
/// A shorter interval than the kernel's clock can resolve gives no shares.
const SHORTEST: Duration = Duration::from_millis(1);

/// What may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether drives may be asked for their temperatures and links, every ten seconds. Each question wakes the drive:
    /// not during trials that look at what sleep costs.
    pub poll_drive_sensors: bool,
}

/// Reads the host's counters and says what has passed since it read them last.
#[derive(Debug)]
pub struct Sampler {
    root: Root,
    options: Options,
    began: Instant,
    /// When the last sample was taken.
    last: Duration,
    cpus: Cpus,
    pressure: Pressure,
    energy: Energy,
    throttled: u64,
    host: Held<(SupplySample, Vec<TemperatureSample>)>,
    drives: Held<(Vec<TemperatureSample>, Vec<LinkSample>)>,
    discovered: Duration,
}

/// What is not read in each sample.
#[derive(Debug, Default)]
struct Held<T> {
    value: T,
    read: Option<Duration>,
}

impl<T> Held<T> {
    fn is_due(&self, at: Duration, every: Duration) -> bool {
        self.read.is_none_or(|read| at.saturating_sub(read) >= every)
    }

    fn put(&mut self, at: Duration, value: T) {
        *self = Self { value, read: Some(at) };
    }
}

impl Sampler {
    /// Starts counting. With many CPUs it keeps some thousand files open, at most half of what the process may.
    pub fn new(root: Root, options: Options) -> Self {
        let cpus = Cpus::discover(&root);
        let pressure = Pressure::new(&root, &mut Budget::of_this_process());
        Self {
            root,
            options,
            began: Instant::now(),
            last: Duration::ZERO,
            cpus,
            pressure,
            energy: Energy::default(),
            throttled: 0,
            host: Held::default(),
            drives: Held::default(),
            discovered: Duration::ZERO,
        }
    }

    /// Allows or forbids asking drives from now on. What they said before is not shown while it is forbidden.
    pub fn poll_drive_sensors(&mut self, allowed: bool) {
        self.options.poll_drive_sensors = allowed;
    }

    /// What has passed since the last call or the start. `meters` are readings of the energy meters as of now, if they
    /// can be had.
    pub fn sample(&mut self, meters: Option<&[Meter]>) -> Telemetry {
        self.sample_at(self.began.elapsed(), meters)
    }

    /// As [`Sampler::sample`], `at` so long after the start.
    pub fn sample_at(&mut self, at: Duration, meters: Option<&[Meter]>) -> Telemetry {
        let interval = at.saturating_sub(self.last);
        let mut sample = Telemetry {
            t_ms: at.as_secs_f64() * 1e3,
            interval_ms: interval.as_secs_f64() * 1e3,
            energy: self.energy.sample(at, meters.unwrap_or_default()),
            energy_reason: energy::reason(&self.root, meters),
            ..Telemetry::default()
        };
        if interval >= SHORTEST {
            self.last = at;
            let seconds = interval.as_secs_f64();
            let done = self.cpus.sample(seconds);
            (sample.cpus, sample.idle) = (done.cpus, done.idle);
            self.throttled += done.throttled.unwrap_or(0);
            sample.throttled = done.throttled.map(|_| self.throttled);
            sample.pressure = self.pressure.sample(seconds);
        }
        self.read_held(at);
        (sample.supply, sample.temperatures) = self.host.value.clone();
        if self.options.poll_drive_sensors {
            sample.temperatures.extend_from_slice(&self.drives.value.0);
        }
        sample.links.clone_from(&self.drives.value.1);
        self.discover(at);
        sample
    }

    fn read_held(&mut self, at: Duration) {
        if self.host.is_due(at, HOST_EVERY) {
            let temperatures = sensors::sample(&self.root, sensors::Of::Host);
            self.host.put(at, (supply::sample(&self.root), temperatures));
        }
        if self.options.poll_drive_sensors && self.drives.is_due(at, DRIVES_EVERY) {
            let temperatures = sensors::sample(&self.root, sensors::Of::Drives);
            self.drives.put(at, (temperatures, drive::links(&self.root)));
        }
    }

    /// After a sample, so that the next one's interval is whole.
    fn discover(&mut self, at: Duration) {
        let due = at.saturating_sub(self.discovered) >= DISCOVER_EVERY;
        if self.cpus.have_changed() || due && self.cpus.are_stale(&self.root) {
            self.cpus = Cpus::discover(&self.root);
        }
        if due {
            self.discovered = at;
        }
    }
}
