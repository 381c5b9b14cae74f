//! The `read`, `write` and `trim` parts of a job.

use super::latency;
use lab::Summary;
use protocol::result::Direction;
use protocol::sample::{Flow, Sample};
use protocol::units::Bytes;
use serde_json::{Value, json};

/// fio averages throughput over this time before it takes its extremes (`--bwavgtime`).
const AVERAGED_MS: f64 = 500.0;

/// What one part is made from.
pub(super) struct Part<'a> {
    pub(super) direction: Option<&'a Direction>,
    pub(super) flow: fn(&Sample) -> &Flow,
    pub(super) runtime_ms: u64,
    pub(super) samples: &'a [Sample],
}

pub(super) fn json(part: &Part) -> Value {
    let d = part.direction;
    let bytes = d.map_or(0, |d| d.bytes.0);
    let bw = d.map_or(0.0, |d| d.bw.0);
    let samples = if d.is_some() { part.samples } else { &[] };
    let (kib, iops) = over_time(samples, part.flow);
    let (kib, iops) = (Spread::of(&kib), Spread::of(&iops));
    let latencies = d.map(|d| (d.clat.as_ref().unwrap_or(&d.lat), &d.lat));
    json!({
        "io_bytes": bytes,
        "io_kbytes": bytes / 1024,
        "bw_bytes": integer(bw),
        "bw": integer(bw / 1024.0),
        "iops": d.map_or(0.0, |d| d.iops.0),
        "runtime": if d.is_some() { part.runtime_ms } else { 0 },
        "total_ios": d.map_or(0, |d| d.ios),
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": latency::none(),
        "clat_ns": latencies.map_or_else(latency::none, |(clat, _)| latency::with_percentiles(clat)),
        "lat_ns": latencies.map_or_else(latency::none, |(_, lat)| latency::json(lat)),
        "bw_min": integer(kib.min),
        "bw_max": integer(kib.max),
        "bw_agg": if d.is_some() { 100.0 } else { 0.0 },
        "bw_mean": kib.mean,
        "bw_dev": kib.deviation,
        "bw_samples": kib.n,
        "iops_min": integer(iops.min),
        "iops_max": integer(iops.max),
        "iops_mean": iops.mean,
        "iops_stddev": iops.deviation,
        "iops_samples": iops.n,
    })
}

/// Rates far below 2^63; fio writes these without decimals.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast to an integer saturates")]
fn integer(v: f64) -> u64 {
    v.round() as u64
}

/// KiB/s and I/Os per second over consecutive spans of [`AVERAGED_MS`]; an incomplete last one counts only alone.
fn over_time(samples: &[Sample], flow: fn(&Sample) -> &Flow) -> (Vec<f64>, Vec<f64>) {
    let (mut kib, mut iops) = (Vec::new(), Vec::new());
    let (mut ms, mut bytes, mut count) = (0.0, Bytes(0), 0u64);
    for (i, sample) in samples.iter().enumerate() {
        ms += sample.dt_ms;
        bytes.0 += flow(sample).bytes.0;
        count += flow(sample).ios;
        let alone = kib.is_empty() && i + 1 == samples.len();
        // Samples of 50 ms do not add up to 500 to the last bit.
        if ms >= AVERAGED_MS - 1.0 || (alone && ms > 0.0) {
            kib.push(bytes.0 as f64 / 1024.0 / (ms / 1e3));
            iops.push(count as f64 / (ms / 1e3));
            (ms, bytes, count) = (0.0, Bytes(0), 0);
        }
    }
    (kib, iops)
}

/// Extremes, mean and standard deviation; zero where there is nothing.
#[derive(Debug, Default)]
struct Spread {
    n: usize,
    min: f64,
    max: f64,
    mean: f64,
    deviation: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        let Some(Summary { n, min, max, mean, .. }) = Summary::of(values) else { return Self::default() };
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let deviation = if n > 1 { (squares / (n as f64 - 1.0)).sqrt() } else { 0.0 };
        Self { n, min, max, mean, deviation }
    }
}
