//! Whether trials are such as a plan yields.

use super::sound::check_time;
use protocol::experiment::workloads::IDLE;
use protocol::experiment::{ExperimentRecord, Metric, Trial};
use protocol::workload::Workload;
use std::collections::{BTreeMap, BTreeSet};

/// Most trials.
const MOST_TRIALS: usize = 100_000;
/// Most percentiles of a trial.
const MOST_PERCENTILES: usize = 64;

/// Says which trial is none, and why.
pub(super) fn check(record: &ExperimentRecord, trials: &[Trial]) -> Result<(), String> {
    if trials.len() > MOST_TRIALS {
        return Err(format!("trials has {} entries; at most {MOST_TRIALS} are read", trials.len()));
    }
    let labels: BTreeSet<String> = record.spec.expanded_workloads().iter().map(Workload::label).collect();
    let mut places = BTreeMap::new();
    for (position, trial) in trials.iter().enumerate() {
        one(record, &labels, position, trial).map_err(|why| format!("trials[{position}].{why}"))?;
        let place = (trial.block, trial.configuration, trial.workload.as_str());
        if trial.void.is_none()
            && let Some(other) = places.insert(place, position)
        {
            return Err(format!("trials[{position}] is of the same place as trials[{other}], which counts already"));
        }
    }
    Ok(())
}

fn one(record: &ExperimentRecord, labels: &BTreeSet<String>, position: usize, trial: &Trial) -> Result<(), String> {
    let below = |key: &str, value: u32, limit: usize| match usize::try_from(value) {
        Ok(value) if value < limit => Ok(()),
        _ => Err(format!("{key} is {value}; it must be below {limit}")),
    };
    if usize::try_from(trial.number) != Ok(position) {
        return Err(format!("number is {}; trials are numbered from 0 in their order", trial.number));
    }
    below("block", trial.block, record.spec.max_blocks as usize)?;
    below("configuration", trial.configuration, record.configurations.len())?;
    let idle = trial.workload == IDLE;
    if !idle && !labels.contains(&trial.workload) {
        return Err(format!("workload is `{}`, which is not in the experiment", trial.workload));
    }
    for (metric, value) in &trial.metrics {
        if !(value.is_finite() && *value > 0.0) {
            return Err(format!("metrics.{metric} is {value}; it must be above 0"));
        }
        if idle != (*metric == Metric::IdlePower) {
            return Err(format!("metrics.{metric} is not what the workload `{}` yields", trial.workload));
        }
    }
    percentiles(trial)?;
    check_time("started_at", &trial.started_at)
}

/// Both columns ascend.
fn percentiles(trial: &Trial) -> Result<(), String> {
    if trial.latency.len() > MOST_PERCENTILES {
        return Err(format!("latency has {} entries; at most {MOST_PERCENTILES} are read", trial.latency.len()));
    }
    let sound = |p: f64| p > 0.0 && p <= 100.0;
    let ascends = trial.latency.iter().zip(trial.latency.iter().skip(1)).all(|(a, b)| a.0 < b.0 && a.1 <= b.1);
    if ascends && trial.latency.iter().all(|(p, _)| sound(*p)) {
        return Ok(());
    }
    Err("latency is not a list of percentiles, 0 to 100, that ascend".into())
}
