//! Tallies made into the numbers of samples and results.

use super::buckets;
use super::recorder::Tally;
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use protocol::result::{Direction, Latency, PERCENTILES};
use protocol::sample::{Flow, SampleLatency};
use protocol::units::{Bytes, BytesPerSecond, Iops, Nanos};

/// The result of one direction over `elapsed_ns`; `None` when nothing completed. `clat` is the tally from
/// submission where that differs.
pub(crate) fn direction(lat: &Tally, clat: &Tally, bs: u64, elapsed_ns: u64) -> Option<Direction> {
    let ios = lat.total();
    if ios == 0 {
        return None;
    }
    let seconds = elapsed_ns.max(1) as f64 / 1e9;
    let hist = hdr(lat);
    let encoded = hist.as_ref().map(encode).unwrap_or_default();
    Some(Direction {
        ios,
        bytes: Bytes(ios * bs),
        iops: Iops(ios as f64 / seconds),
        bw: BytesPerSecond((ios * bs) as f64 / seconds),
        lat: latency(lat, hist.as_ref()),
        clat: (clat.total() > 0).then(|| latency(clat, hdr(clat).as_ref())),
        hist: encoded,
    })
}

/// As an `HdrHistogram`: every bucket of a tally lies in exactly one of its buckets.
fn hdr(tally: &Tally) -> Option<Histogram<u64>> {
    let mut hist = Histogram::new_with_bounds(1, buckets::MAX_NS, 3).ok()?;
    for (bucket, n) in tally.iter() {
        hist.record_n(buckets::highest(bucket).max(1), n).ok()?;
    }
    Some(hist)
}

/// base64 of the V2 compressed encoding.
fn encode(hist: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    match V2DeflateSerializer::new().serialize(hist, &mut bytes) {
        Ok(_) => base64::engine::general_purpose::STANDARD.encode(bytes),
        Err(_) => String::new(),
    }
}

fn latency(tally: &Tally, hist: Option<&Histogram<u64>>) -> Latency {
    let n = tally.total();
    // Percentiles are a bucket's upper end; the largest value is known exactly.
    let percentile = |p: f64| hist.map_or(0, |h| h.value_at_quantile(p / 100.0)).min(tally.max_ns).max(tally.min_ns);
    Latency {
        n,
        min_ns: Nanos(tally.min_ns),
        max_ns: Nanos(tally.max_ns),
        mean_ns: tally.sum_ns as f64 / n.max(1) as f64,
        stddev_ns: hist.map_or(0.0, Histogram::stdev),
        percentiles: PERCENTILES.iter().map(|&p| (p, Nanos(percentile(p)))).collect(),
    }
}

/// One direction of a sample: what `now` holds beyond `before`, over `dt_ns`.
pub(crate) fn flow(now: &Tally, before: &Tally, bs: u64, dt_ns: u64) -> Flow {
    let new: Vec<(usize, u64)> = now.since(before).collect();
    let ios: u64 = new.iter().map(|(_, n)| n).sum();
    if ios == 0 {
        return Flow::default();
    }
    let seconds = dt_ns.max(1) as f64 / 1e9;
    let mut hist: Vec<(u64, u64)> = Vec::new();
    for &(bucket, n) in &new {
        let bound = coarse(buckets::highest(bucket));
        match hist.last_mut() {
            Some((last, count)) if *last == bound => *count += n,
            _ => hist.push((bound, n)),
        }
    }
    let at = |quantile: f64| {
        let rank = ((ios as f64 * quantile).ceil() as u64).clamp(1, ios);
        let mut seen = 0;
        let bucket = new.iter().find(|&&(_, n)| {
            seen += n;
            seen >= rank
        });
        Nanos(bucket.map_or(0, |&(b, _)| buckets::highest(b)).min(now.max_ns))
    };
    Flow {
        ios,
        bytes: Bytes(ios * bs),
        iops: Iops(ios as f64 / seconds),
        bw: BytesPerSecond((ios * bs) as f64 / seconds),
        lat: Some(SampleLatency {
            mean_ns: now.sum_ns.saturating_sub(before.sum_ns) as f64 / ios as f64,
            p50_ns: at(0.5),
            p95_ns: at(0.95),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: at(1.0),
        }),
        hist,
    }
}

/// The upper end of the bucket of `ns` in a layout of 16 buckets per doubling.
fn coarse(ns: u64) -> u64 {
    let shift = (ns | 16).ilog2() - 4;
    (((ns >> shift) + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::recorder::Recorder;
    use hdrhistogram::serialization::Deserializer;

    fn tally(values: &[u64]) -> Tally {
        let r = Recorder::new();
        for &v in values {
            r.record(v);
        }
        let mut t = Tally::new();
        r.add_to(&mut t);
        t
    }

    #[test]
    fn a_direction_says_what_was_booked() {
        let values: Vec<u64> = (1..=1000).map(|i| i * 1000).collect();
        let d = direction(&tally(&values), &Tally::new(), 4096, 2_000_000_000).unwrap();
        assert_eq!((d.ios, d.bytes, d.iops, d.clat), (1000, Bytes(4_096_000), Iops(500.0), None));
        assert_eq!((d.lat.min_ns, d.lat.max_ns), (Nanos(1000), Nanos(1_000_000)));
        assert!((d.lat.mean_ns - 500_500.0).abs() < 1e-6);
        assert!((d.lat.stddev_ns - 288_675.0).abs() < 300.0, "{}", d.lat.stddev_ns);
        let p99 = d.lat.percentile(99.0).unwrap().0;
        assert!((990_000..=991_000).contains(&p99), "{p99}");
        // What is stored reads back as the same histogram, with any HDR implementation.
        let bytes = base64::engine::general_purpose::STANDARD.decode(&d.hist).unwrap();
        let h: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!((h.len(), h.value_at_quantile(0.99)), (1000, h.highest_equivalent(p99)));
    }

    #[test]
    fn a_sample_holds_only_what_is_new() {
        let before = tally(&[1000; 10]);
        let after = tally(&[&[1000; 10][..], &[50_000; 90], &[2_000_000; 10]].concat());
        let f = flow(&after, &before, 512, 50_000_000);
        assert_eq!((f.ios, f.bytes.0, f.iops.0), (100, 51_200, 2000.0));
        let lat = f.lat.unwrap();
        assert!((lat.p50_ns.0 as f64 / 50_000.0 - 1.0).abs() < 0.001);
        assert_eq!((lat.p99_ns, lat.max_ns), (Nanos(2_000_000), Nanos(2_000_000)));
        assert!((lat.mean_ns - 245_000.0).abs() < 1e-6);
        assert_eq!(f.hist.iter().map(|h| h.1).sum::<u64>(), 100);
        assert_eq!(f.hist.len(), 2);
        assert_eq!(flow(&after, &after, 512, 1), Flow::default());
    }

    #[test]
    fn coarse_bounds_are_within_a_sixteenth() {
        for ns in [0u64, 1, 15, 16, 17, 1000, 123_456_789, buckets::MAX_NS] {
            let bound = coarse(ns);
            assert!(bound >= ns && bound - ns <= ns / 16, "{ns} {bound}");
        }
    }
}
