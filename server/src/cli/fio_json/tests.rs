//! Our report against one that fio 3.33 wrote (`testdata/fio-3.33.json`, a randrw run).

use super::report;
use crate::cli::sample_run::record;
use protocol::sample::{Flow, Sample};
use protocol::units::Bytes;
use serde_json::Value;

const FIO: &str = include_str!("../testdata/fio-3.33.json");

/// Forty samples of 50 ms with 16 accesses in flight.
fn samples() -> Vec<Sample> {
    let flow = Flow { ios: 25, bytes: Bytes(102_400), ..Flow::default() };
    let sample = Sample { dt_ms: 50.0, read: flow.clone(), write: flow, in_flight: 16, ..Sample::default() };
    vec![sample; 40]
}

/// Keys of fio's that ours lacks or has with another type. Names of options and disks are one's own.
fn differences(fio: &Value, ours: &Value, path: &str, found: &mut Vec<String>) {
    if path.ends_with("job options") || path.ends_with("disk_util") {
        return;
    }
    match (fio, ours) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                match b.get(key) {
                    Some(other) => differences(value, other, &format!("{path}/{key}"), found),
                    None => found.push(format!("{path}/{key} is missing")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if !a.is_empty() && !b.is_empty() => differences(&a[0], &b[0], path, found),
        (Value::Number(a), Value::Number(b)) if a.is_f64() == b.is_f64() => {}
        (Value::String(_), Value::String(_)) => {}
        _ => found.push(format!("{path}: {fio} against {ours}")),
    }
}

#[test]
fn every_key_of_fios_is_there_with_its_type() {
    let fio: Value = serde_json::from_str(FIO).unwrap();
    let mut found = Vec::new();
    differences(&fio, &report(&record(), |_| samples()), "", &mut found);
    assert_eq!(found, Vec::<String>::new());
    // The same without samples, as for an interrupted run.
    differences(&fio, &report(&record(), |_| vec![]), "", &mut found);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn units_are_fios() {
    let report = report(&record(), |_| samples());
    let job = &report["jobs"][0];
    assert_eq!(report["timestamp_ms"], 1_796_037_215_462_u64);
    let read = &job["read"];
    let number = |name: &str| format!("{:.3}", read[name].as_f64().unwrap());
    let all = ["io_bytes", "io_kbytes", "bw_bytes", "bw", "iops", "runtime", "total_ios"].map(number);
    assert_eq!(all, ["4096000.000", "4000.000", "2048000.000", "2000.000", "500.000", "2000.000", "1000.000"]);
    assert_eq!(
        ["bw_min", "bw_mean", "bw_samples", "iops_max"].map(number),
        ["2000.000", "2000.000", "4.000", "500.000"]
    );
    assert_eq!(read["clat_ns"]["percentile"]["99.900000"], 300_000);
    // 0.1 s of user time in two jobs of 2 s each
    assert_eq!([&job["usr_cpu"], &job["sys_cpu"], &job["ctx"]], [2.5, 10.0, 7.0]);
    assert_eq!(job["latency_us"]["500"], 100.0);
    assert_eq!(job["latency_us"]["250"], 0.0);
    assert_eq!((&job["iodepth_level"]["8"], &job["iodepth_level"]["16"]), (&100.0.into(), &0.0.into()));
}
