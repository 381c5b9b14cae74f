//! One point of a curve, made from one sample.

use crate::format::{self, Quantity};
use protocol::sample::{Phase, Sample};
use protocol::units::{BytesPerSecond, Iops};

/// What a curve or reading shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Bytes per second.
    #[default]
    Throughput,
    /// Accesses per second.
    Iops,
    /// Latency in ns.
    Latency,
}

impl Metric {
    /// All, in the order they are offered.
    pub(crate) const ALL: [Self; 3] = [Self::Throughput, Self::Iops, Self::Latency];

    /// The word on the switch.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Iops => "IOPS",
            Self::Latency => "Latency",
        }
    }
    /// The unit shown while there is no number.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "MB/s",
            Self::Iops => "IOPS",
            Self::Latency => "µs",
        }
    }
    /// A value of this metric in base units (B/s, 1/s, ns).
    pub(crate) fn format(self, v: f64) -> Quantity {
        match self {
            Self::Throughput => format::throughput(BytesPerSecond(v)),
            Self::Iops => format::iops(Iops(v)),
            Self::Latency => format::latency(v),
        }
    }
}

/// Reads and writes of one interval together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Point {
    /// Step it belongs to.
    pub(crate) step: u32,
    /// Before measuring; drawn, not counted.
    pub(crate) ramp: bool,
    /// End of the interval in s since the step's first access.
    pub(crate) t: f64,
    /// Length of the interval in s.
    pub(crate) dt: f64,
    /// Completions.
    pub(crate) ios: f64,
    /// Bytes they moved.
    pub(crate) bytes: f64,
    /// Latency, where anything completed: mean, median and 99th percentile in ns.
    pub(crate) lat: Option<PointLatency>,
}

/// Latency of a [`Point`], in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct PointLatency {
    /// Mean.
    pub(crate) mean: f64,
    /// Median.
    pub(crate) p50: f64,
    /// 99th percentile.
    pub(crate) p99: f64,
}

impl Point {
    /// Bytes per second.
    pub(crate) fn bw(&self) -> f64 {
        per(self.bytes, self.dt)
    }
    /// Accesses per second.
    pub(crate) fn iops(&self) -> f64 {
        per(self.ios, self.dt)
    }
    /// The value a curve shows; for latency the median.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Throughput => Some(self.bw()),
            Metric::Iops => Some(self.iops()),
            Metric::Latency => self.lat.map(|l| l.p50),
        }
    }
    /// Two neighbouring intervals as one: rates are means; the median is weighted by completions; of the two 99th
    /// percentiles the higher stays, so that a spike is never lost.
    pub(crate) fn merge(self, next: Self) -> Self {
        let lat = match (self.lat, next.lat) {
            (Some(a), Some(b)) => {
                let mix = |x: f64, y: f64| per(x * self.ios + y * next.ios, self.ios + next.ios);
                Some(PointLatency { mean: mix(a.mean, b.mean), p50: mix(a.p50, b.p50), p99: a.p99.max(b.p99) })
            }
            (a, b) => a.or(b),
        };
        Self { t: next.t, dt: self.dt + next.dt, ios: self.ios + next.ios, bytes: self.bytes + next.bytes, lat, ..self }
    }
}

impl From<&Sample> for Point {
    fn from(s: &Sample) -> Self {
        let ios = s.read.ios + s.write.ios;
        let lat = match (s.read.lat, s.write.lat) {
            (Some(l), None) | (None, Some(l)) => {
                Some(PointLatency { mean: l.mean_ns, p50: l.p50_ns.0 as f64, p99: l.p99_ns.0 as f64 })
            }
            (Some(r), Some(w)) => {
                let hist = merged(&[&s.read.hist, &s.write.hist]);
                let mean = per(r.mean_ns * s.read.ios as f64 + w.mean_ns * s.write.ios as f64, ios as f64);
                percentile(&hist, 0.5).zip(percentile(&hist, 0.99)).map(|(p50, p99)| PointLatency {
                    mean,
                    p50: p50 as f64,
                    p99: p99 as f64,
                })
            }
            (None, None) => None,
        };
        Self {
            step: s.step,
            ramp: s.phase == Phase::Ramp,
            t: s.t_ms / 1e3,
            dt: s.dt_ms / 1e3,
            ios: ios as f64,
            bytes: (s.read.bytes.0 + s.write.bytes.0) as f64,
            lat,
        }
    }
}

fn per(amount: f64, time: f64) -> f64 {
    if time > 0.0 { amount / time } else { 0.0 }
}

/// Adds up histograms of `[highest ns of the bucket, completions]`.
pub(crate) fn merged(parts: &[&[(u64, u64)]]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = parts.iter().flat_map(|p| p.iter().copied()).collect();
    all.sort_unstable();
    all.dedup_by(|b, a| {
        let same = a.0 == b.0;
        if same {
            a.1 += b.1;
        }
        same
    });
    all
}

/// The bound of the bucket in which share `p` of all completions is reached.
pub(crate) fn percentile(hist: &[(u64, u64)], p: f64) -> Option<u64> {
    let total: u64 = hist.iter().map(|b| b.1).sum();
    let rank = (p * total as f64).max(1.0);
    let mut seen = 0;
    hist.iter().find_map(|&(bound, n)| {
        seen += n;
        (seen as f64 >= rank).then_some(bound)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::sample::{Flow, SampleLatency};
    use protocol::units::{Bytes, Nanos};

    fn flow(ios: u64, ns: u64, hist: Vec<(u64, u64)>) -> Flow {
        let n = Nanos(ns);
        let lat = SampleLatency { mean_ns: ns as f64, p50_ns: n, p95_ns: n, p99_ns: n, p999_ns: n, max_ns: n };
        Flow { ios, bytes: Bytes(ios * 4096), lat: Some(lat), hist, ..Flow::default() }
    }

    #[test]
    fn a_mixed_sample_takes_its_percentiles_from_both_histograms() {
        let sample = Sample {
            dt_ms: 50.0,
            read: flow(90, 100, vec![(100, 90)]),
            write: flow(10, 9000, vec![(9000, 10)]),
            ..Sample::default()
        };
        let point = Point::from(&sample);
        let lat = point.lat.unwrap();
        assert_eq!((lat.p50, lat.p99, lat.mean), (100.0, 9000.0, 990.0));
        assert!((point.iops() - 2000.0).abs() < 1e-9);
        assert!((point.bw() - 100.0 * 4096.0 / 0.05).abs() < 1e-3);
    }

    #[test]
    fn merging_keeps_totals_and_the_worst_tail() {
        let a = Point::from(&Sample { t_ms: 50.0, dt_ms: 50.0, read: flow(10, 100, vec![]), ..Sample::default() });
        let b = Point::from(&Sample { t_ms: 100.0, dt_ms: 50.0, read: flow(30, 500, vec![]), ..Sample::default() });
        let m = a.merge(b);
        assert_eq!((m.t, m.dt, m.ios), (0.1, 0.1, 40.0));
        let lat = m.lat.unwrap();
        assert_eq!((lat.p50, lat.p99), (400.0, 500.0));
    }

    #[test]
    fn percentiles_of_an_empty_histogram_do_not_exist() {
        assert_eq!(percentile(&[], 0.5), None);
        assert_eq!(percentile(&[(10, 1), (20, 1)], 0.5), Some(10));
        assert_eq!(merged(&[&[(10, 1)], &[(10, 2), (30, 1)]]), [(10, 3), (30, 1)]);
    }
}
