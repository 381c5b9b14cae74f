//! Results in the form of `fio --output-format=json` (3.x), so that tools made for fio read ours.
//!
//! Names, units and types are fio's: `bw` in KiB/s, latencies in ns, `runtime` in ms, CPU in percent of the job's time.
//! What only we know stands under `brakecheck` in each job; what only fio measures is zero: submission latencies
//! (ours submits in batches and counts from submission to completion), batch sizes, page faults, disk statistics.

mod direction;
mod latency;
mod options;

use direction::Part;
use protocol::plan::Step;
use protocol::result::StepResult;
use protocol::run::RunRecord;
use protocol::sample::{Phase, Sample};
use serde_json::{Map, Value, json};

/// The report of a run; each step is a job. `samples` gives the samples of a step.
pub(super) fn report(record: &RunRecord, samples: impl Fn(u32) -> Vec<Sample>) -> Value {
    let end = record.finished_at.as_deref().unwrap_or(&record.started_at);
    let end: jiff::Timestamp = end.parse().unwrap_or_default();
    let jobs = record.results.iter().filter_map(|result| {
        let step = record.spec.steps.get(result.step as usize)?;
        let measured: Vec<Sample> = samples(result.step).into_iter().filter(|s| s.phase == Phase::Measure).collect();
        Some(job(record, step, result, &measured))
    });
    json!({
        "fio version": format!("brakecheck-{}", record.version),
        "timestamp": end.as_second(),
        "timestamp_ms": end.as_millisecond(),
        "time": end.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%a %b %e %H:%M:%S %Y").to_string(),
        "jobs": jobs.collect::<Vec<_>>(),
        "disk_util": [],
    })
}

fn job(record: &RunRecord, step: &Step, result: &StepResult, samples: &[Sample]) -> Value {
    let seconds = result.elapsed_ns as f64 / 1e9;
    let runtime_ms = result.elapsed_ns.div_ceil(1_000_000);
    // fio adds up the run times of the jobs it reports together.
    let jobs = f64::from(step.workload.numjobs);
    let percent = |cpu_s: f64| if seconds > 0.0 { cpu_s / (seconds * jobs) * 100.0 } else { 0.0 };
    let part = |direction, flow| direction::json(&Part { direction, flow, runtime_ms, samples });
    let (ns, us, ms) = latency::distribution(result);
    json!({
        "jobname": step.workload.label(),
        "groupid": result.step,
        "error": 0,
        "eta": 0,
        "elapsed": (result.elapsed_ns.div_ceil(1_000_000_000)).max(1),
        "job options": options::of(&record.spec.target, &step.workload),
        "read": part(result.read.as_ref(), |s| &s.read),
        "write": part(result.write.as_ref(), |s| &s.write),
        "trim": part(None, |s| &s.read),
        "sync": { "total_ios": 0, "lat_ns": latency::none() },
        "job_runtime": runtime_ms,
        "usr_cpu": percent(result.cpu.user_s),
        "sys_cpu": percent(result.cpu.system_s),
        "ctx": result.cpu.context_switches,
        "majf": 0,
        "minf": 0,
        "iodepth_level": depths(step, samples),
        "iodepth_submit": zeros(&["0", "4", "8", "16", "32", "64", ">=64"]),
        "iodepth_complete": zeros(&["0", "4", "8", "16", "32", "64", ">=64"]),
        "latency_ns": ns,
        "latency_us": us,
        "latency_ms": ms,
        "latency_depth": step.workload.iodepth,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
        "brakecheck": {
            "run": record.id,
            "repetition": step.repetition,
            "warmup": step.warmup,
            "path": result.path,
            "engine": result.engine,
            "caveats": result.caveats,
            "cut_short": result.cut_short,
        },
    })
}

/// Percent of samples at which so many accesses were in flight per job (up to the next label).
fn depths(step: &Step, samples: &[Sample]) -> Value {
    const LABELS: [(&str, u32); 7] = [("1", 1), ("2", 2), ("4", 4), ("8", 8), ("16", 16), ("32", 32), (">=64", 64)];
    let per_job = |s: &Sample| (s.in_flight / step.workload.numjobs.max(1)).max(1);
    let depths: Vec<u32> = samples.iter().map(per_job).collect();
    let above = |least: u32| depths.iter().filter(|&&d| d >= least).count() as f64;
    let percent = |i: usize, least: u32| {
        let next = LABELS.get(i + 1).map_or(0.0, |(_, n)| above(*n));
        if depths.is_empty() { 0.0 } else { (above(least) - next) / depths.len() as f64 * 100.0 }
    };
    LABELS
        .iter()
        .enumerate()
        .map(|(i, (label, n))| ((*label).to_owned(), json!(percent(i, *n))))
        .collect::<Map<_, _>>()
        .into()
}

fn zeros(labels: &[&str]) -> Value {
    labels.iter().map(|l| ((*l).to_owned(), json!(0.0))).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests;
