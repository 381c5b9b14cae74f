//! One trial: a workload on the open target, with the energy it took.

use super::hand::Hand;
use crate::runner::now;
use engine::{Control, Held, Outcome, RunOptions};
use power::desk::Meter;
use protocol::error::ErrorBody;
use protocol::event::Event as RunEvent;
use protocol::experiment::Metric;
use protocol::plan::RunSpec;
use protocol::result::StepResult;
use protocol::sample::Phase;
use protocol::workload::Workload;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What trials are measured with.
pub(super) struct Bench<'a> {
    pub(super) held: &'a Held,
    pub(super) options: &'a RunOptions,
    pub(super) target: &'a str,
    pub(super) control: &'a Control,
    /// Whether the host has energy meters that can be read.
    pub(super) meters: bool,
}

/// What a trial yielded.
pub(super) struct Measured {
    pub(super) result: StepResult,
    pub(super) metrics: BTreeMap<Metric, f64>,
    pub(super) started_at: String,
    pub(super) took: Duration,
}

impl Bench<'_> {
    /// Runs a workload. `None` when stopped meanwhile.
    pub(super) fn run(
        &self,
        workload: &Workload,
        hand: &Hand,
        sink: &mut dyn FnMut(RunEvent),
    ) -> Result<Option<Measured>, ErrorBody> {
        let (started_at, began) = (now(), Instant::now());
        let spec = RunSpec::of_workloads(self.target, std::slice::from_ref(workload), 1);
        let (mut result, mut energy, mut watts) = (None, None, None);
        let ended = self.held.run(&spec, self.options, self.control, &mut |event| match event {
            RunEvent::Sample { run, sample } => {
                if self.meters && energy.is_none() && sample.phase != Phase::Ramp {
                    energy = Some((Instant::now(), hand.energy()));
                }
                sink(RunEvent::Sample { run, sample });
            }
            RunEvent::WorkloadFinished { result: finished, .. } => {
                watts = energy.take().and_then(|(since, before)| power(&before, &hand.energy(), since.elapsed()));
                result = Some(*finished);
            }
            _ => {}
        });
        let outcome = ended.map_err(|e| e.body())?;
        let (Outcome::Done, Some(result)) = (outcome, result) else { return Ok(None) };
        let mut metrics = Metric::of_result(&result);
        let per_io = watts.map(|w: f64| w / result.iops().0).filter(|j| j.is_finite() && *j > 0.0);
        metrics.extend(per_io.map(|j| (Metric::EnergyPerIo, j)));
        Ok(Some(Measured { result, metrics, started_at, took: began.elapsed() }))
    }

    /// Does nothing for a while. `None` when stopped meanwhile, or when the meters do not say.
    pub(super) fn idle(&self, time: Duration, hand: &Hand) -> Option<(String, f64)> {
        let (started_at, began, before) = (now(), Instant::now(), hand.energy());
        self.control.pause(time);
        let watts = power(&before, &hand.energy(), began.elapsed())?;
        (!self.control.is_stopped()).then_some((started_at, watts))
    }
}

/// Mean power in W of packages and memory; `None` where no meter moved.
fn power(before: &[Meter], after: &[Meter], time: Duration) -> Option<f64> {
    let counts = |m: &Meter| m.name.starts_with("package") || m.name == "dram";
    let moved = before.iter().zip(after).filter(|(b, a)| b.name == a.name && counts(b)).map(|(b, a)| {
        // It starts from 0 after its range.
        let wrapped = if a.energy_uj < b.energy_uj { b.range_uj.saturating_add(1) } else { 0 };
        a.energy_uj.saturating_add(wrapped).saturating_sub(b.energy_uj)
    });
    let joules = moved.sum::<u64>() as f64 / 1e6;
    let watts = joules / time.as_secs_f64();
    (watts.is_finite() && watts > 0.0).then_some(watts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_of_packages_and_memory_across_a_wrap() {
        let meter = |name: &str, energy_uj| Meter { name: name.into(), energy_uj, range_uj: 9_999_999 };
        let before = [meter("package-0", 9_000_000), meter("core", 0), meter("dram", 0)];
        let after = [meter("package-0", 1_000_000), meter("core", 5_000_000), meter("dram", 1_000_000)];
        assert_eq!(power(&before, &after, Duration::from_secs(2)), Some(1.5));
        assert_eq!(power(&before, &before, Duration::from_secs(1)), None);
    }
}
