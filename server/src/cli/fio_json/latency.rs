//! Latencies in fio's form.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use protocol::result::{Direction, Latency, StepResult};
use serde_json::{Map, Value, json};

/// One distribution.
pub(super) fn json(l: &Latency) -> Value {
    json!({ "min": l.min_ns, "max": l.max_ns, "mean": l.mean_ns, "stddev": l.stddev_ns, "N": l.n })
}

/// No access, no latency.
pub(super) fn none() -> Value {
    json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 })
}

/// One distribution with fio's percentiles, `"99.900000": ns`.
pub(super) fn with_percentiles(l: &Latency) -> Value {
    let percentiles: Map<_, _> = l.percentiles.iter().map(|(p, ns)| (format!("{p:.6}"), json!(ns))).collect();
    let mut value = json(l);
    if let Value::Object(fields) = &mut value {
        fields.insert("percentile".into(), percentiles.into());
    }
    value
}

/// Upper ends of fio's buckets in each of its three units.
const BELOW_1000: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Percent of accesses (both directions together) below each bound and not below the one before, in `latency_ns`,
/// `latency_us` and `latency_ms`.
pub(super) fn distribution(result: &StepResult) -> (Value, Value, Value) {
    let histograms: Vec<Histogram<u64>> = result.directions().filter_map(histogram).collect();
    let total: u64 = histograms.iter().map(Histogram::len).sum();
    let between = |low: u64, high: u64| {
        let values = histograms.iter().flat_map(Histogram::iter_recorded);
        let inside = values.filter(|v| (low..high).contains(&v.value_iterated_to()));
        let count: u64 = inside.map(|v| v.count_at_value()).sum();
        json!(if total > 0 { count as f64 / total as f64 * 100.0 } else { 0.0 })
    };
    let unit = |ns: u64| {
        let mut low = if ns == 1 { 0 } else { ns };
        let mut buckets = Map::new();
        for bound in BELOW_1000 {
            buckets.insert(bound.to_string(), between(low, bound * ns));
            low = bound * ns;
        }
        buckets
    };
    let mut ms = unit(1_000_000);
    ms.insert("2000".into(), between(1_000_000_000, 2_000_000_000));
    ms.insert(">=2000".into(), between(2_000_000_000, u64::MAX));
    (unit(1).into(), unit(1000).into(), ms.into())
}

/// The stored histogram; a damaged one is left out.
fn histogram(direction: &Direction) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(&direction.hist).ok()?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}
