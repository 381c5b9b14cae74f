//! After how long a pause a read gets slow: looked for before the first trial, with all savings on, so that the cold
//! read of the trials waits long enough for something to sleep and no longer.
//!
//! It takes about half a minute. A gap longer than a second is tried only where a setting is in question that sends the
//! drive to sleep after so long: the kernel's second timeout of NVMe power states is 2 s, that of runtime power
//! management often as much.

use super::hand::Hand;
use super::measure::Bench;
use super::rehearse::bring;
use super::settle;
use lab::cold::{onset, telling_gap};
use protocol::error::ErrorBody;
use protocol::experiment::record::GapPoint;
use protocol::experiment::workloads::{COLD_GAP, COLD_SWEEP};
use protocol::experiment::{Configuration, ExperimentRecord};
use protocol::units::{Micros, Seconds};
use protocol::workload::Workload;
use std::time::{Duration, Instant};

/// Kinds of settings that send something to sleep after more than a second.
const SLEEPS_LATE: [&str; 2] = ["nvme.apst@", "pci.runtime-pm@"];
/// Longest gap that is tried elsewhere.
const EARLY: Seconds = Seconds::from_secs(1);
/// Longest gap that trials wait if reads get slow there already: each of them reads eight times.
const AFFORDABLE_S: f64 = 0.5;
/// Reads after each gap: as many as go into this time, within these limits.
const TIME: u64 = 2_000_000;
const READS: (u64, u64) = (4, 20);
/// Shortest time of a probe.
const LEAST: Seconds = Seconds(Micros(100_000));
/// Holds the first read, which follows no gap.
const RAMP: Seconds = Seconds(Micros(100_000));
/// Time that the settings stay, where they have a time of their own.
const STAYS: Duration = Duration::from_mins(2);

/// What a sweep has found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Swept {
    pub(super) points: Vec<GapPoint>,
    /// The gap for the trials.
    pub(super) gap: Seconds,
    /// In words.
    pub(super) said: String,
}

/// The gaps that are worth trying where these settings are in question.
pub(super) fn gaps(knobs: &[&str]) -> Vec<Seconds> {
    let late = knobs.iter().any(|id| SLEEPS_LATE.iter().any(|kind| id.starts_with(kind)));
    COLD_SWEEP.into_iter().filter(|gap| late || *gap <= EARLY).collect()
}

/// Reads after each gap under the configuration that saves most. `None` when stopped meanwhile, when time is up, or when
/// that configuration cannot be had.
pub(super) fn sweep(
    record: &ExperimentRecord,
    base: &Workload,
    bench: &Bench<'_>,
    until: Option<Instant>,
    hand: &mut Hand,
) -> Result<Option<Swept>, ErrorBody> {
    let Some(saving) = most_saving(record) else { return Ok(None) };
    if bring(hand, saving, &record.knobs, STAYS)?.is_some() {
        return Ok(None);
    }
    bench.control.pause(settle::time(None, saving));
    let mut points = Vec::new();
    for gap in gaps(&record.touched()) {
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(None);
        }
        let Some(measured) = bench.run(&probe(base, gap), hand, &mut |_| {})? else { return Ok(None) };
        let median = measured.result.directions().next().and_then(|d| d.lat.percentile(50.0));
        points.extend(median.map(|ns| GapPoint { gap, latency_ns: ns.0 as f64 }));
    }
    Ok(Some(judge(points)))
}

fn probe(base: &Workload, gap: Seconds) -> Workload {
    let reads = (TIME / gap.0.0.max(1)).clamp(READS.0, READS.1);
    // Half a gap more, so that the last read is counted.
    let runtime = Seconds(Micros(gap.0.0 * reads + gap.0.0 / 2)).max(LEAST);
    Workload { thinktime: gap.0, runtime, ramp_time: RAMP, ..base.clone() }
}

/// The configuration in which the most settings save.
fn most_saving(record: &ExperimentRecord) -> Option<&Configuration> {
    let saves = |c: &&Configuration| {
        let saving = |id: &str| record.knobs.iter().find(|k| k.id == id).and_then(|k| k.saving_value.as_deref());
        c.set.iter().filter(|a| saving(&a.id) == Some(&a.value)).count()
    };
    record.configurations.iter().max_by_key(saves)
}

fn judge(points: Vec<GapPoint>) -> Swept {
    let seconds = |gap: Seconds| gap.0.0 as f64 / 1e6;
    let pairs: Vec<_> = points.iter().map(|p| (seconds(p.gap), p.latency_ns)).collect();
    let same = |s: f64| points.iter().map(|p| p.gap).find(|gap| (seconds(*gap) - s).abs() < 1e-9);
    let gap = telling_gap(&pairs, AFFORDABLE_S).and_then(same);
    let said = match (gap, points.last()) {
        (Some(gap), _) => {
            let slow = onset(&pairs).filter(|o| o.gap <= seconds(gap));
            let from = slow.and_then(|o| Some((same(o.gap)?, o.ratio)));
            let times = from.map_or(String::new(), |(gap, ratio)| format!(" (from {gap} on {ratio:.1} times as long)"));
            format!("A read gets slow after an idle gap of {gap}{times}: cold reads wait so long.")
        }
        (None, Some(longest)) => {
            format!("No idle gap up to {} makes a read slow: cold reads wait {COLD_GAP}.", longest.gap)
        }
        (None, None) => format!("No read could be measured after an idle gap: cold reads wait {COLD_GAP}."),
    };
    Swept { points, gap: gap.unwrap_or(COLD_GAP), said }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::experiment::workloads::{COLD, TRIAL, find};

    #[test]
    fn long_gaps_are_tried_only_for_what_sleeps_late_and_all_take_half_a_minute() {
        let early = gaps(&["cpu.c1e", "sata.link-power@host0"]);
        assert_eq!(early.last(), Some(&EARLY));
        let late = gaps(&["nvme.apst@nvme0"]);
        assert_eq!(late.last(), Some(&Seconds::from_secs(3)));
        let base = find(COLD, TRIAL).unwrap();
        let time = |gaps: &[Seconds]| -> u64 {
            let probes = gaps.iter().map(|g| probe(&base, *g));
            probes.map(|w| w.runtime.0.0 + w.ramp_time.0.0).sum()
        };
        assert!(time(&late) < 32_000_000 && time(&early) < 18_000_000, "{} {}", time(&late), time(&early));
        assert!(late.iter().all(|g| probe(&base, *g).validate().is_ok()));
    }

    #[test]
    fn the_gap_that_tells_is_said() {
        let point = |ms: u64, us: f64| GapPoint { gap: Seconds(Micros(ms * 1000)), latency_ns: us * 1e3 };
        let slow = judge(vec![point(1, 80.0), point(50, 82.0), point(200, 400.0), point(1000, 410.0)]);
        assert_eq!(slow.gap, Seconds(Micros(200_000)));
        assert_eq!(
            slow.said,
            "A read gets slow after an idle gap of 200ms (from 200ms on 5.0 times as long): cold reads wait so long."
        );
        let never = judge(vec![point(1, 80.0), point(1000, 82.0)]);
        assert_eq!(
            (never.gap, never.said.as_str()),
            (COLD_GAP, "No idle gap up to 1s makes a read slow: cold reads wait 100ms.")
        );
        assert_eq!(judge(vec![]).gap, COLD_GAP);
    }
}
