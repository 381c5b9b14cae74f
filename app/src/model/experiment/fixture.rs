//! A small experiment for tests: one setting, two workloads.

use protocol::experiment::{
    Configuration, Design, Effect, ExperimentHead, ExperimentLive, Finding, Metric, TimeLeft, Trial, TrialMark,
    TrialNow,
};
use protocol::knob::Assignment;
use std::collections::BTreeMap;

pub(crate) const WORKLOADS: [&str; 2] = ["4k-qd1", "seq1m-qd1"];

pub(crate) fn head() -> ExperimentHead {
    let side = |name: &str, value: &str| Configuration {
        name: name.into(),
        set: vec![Assignment { id: "cpu.turbo".into(), value: value.into() }],
        wait: None,
    };
    ExperimentHead {
        id: "e1".into(),
        title: "one-at-a-time".into(),
        design: Design::OneAtATime,
        target: "/mnt/ssd".into(),
        drive: Some("Some SSD".into()),
        workloads: WORKLOADS.map(Into::into).to_vec(),
        configurations: vec![side("all-performance", "on"), side("cpu.turbo=off", "off")],
        knobs: vec![("cpu.turbo".into(), "Turbo Boost".into())],
        threshold_percent: 1.0,
        max_blocks: 60,
        seed: u64::MAX,
        started_at: "2026-11-30T10:15:00Z".into(),
    }
}

pub(crate) fn trial(number: u32, block: u32, configuration: u32, workload: &str, void: Option<&str>) -> Trial {
    Trial {
        number,
        block,
        configuration,
        workload: workload.into(),
        metrics: BTreeMap::new(),
        latency: Vec::new(),
        started_at: "2026-11-30T10:15:09Z".into(),
        void: void.map(Into::into),
    }
}

pub(crate) fn mark(number: u32, block: u32, configuration: u32, workload: &str, void: Option<&str>) -> TrialMark {
    (&trial(number, block, configuration, workload, void)).into()
}

pub(crate) fn now(block: u32, configuration: u32, workload: &str) -> TrialNow {
    TrialNow { block, place: 1, of: 4, configuration, workload: workload.into(), stage: None }
}

pub(crate) fn left() -> TimeLeft {
    TimeLeft { least_ms: 180e3, likely_ms: 360e3, most_ms: 720e3 }
}

pub(crate) fn effect(workload: &str, estimate: f64, interval: Option<(f64, f64)>, verdict: Finding) -> Effect {
    Effect {
        knob: "cpu.turbo".into(),
        from: "on".into(),
        to: "off".into(),
        base: None,
        stage: None,
        workload: workload.into(),
        metric: Metric::Iops,
        primary: true,
        estimate_percent: Some(estimate),
        low_percent: interval.map(|i| i.0),
        high_percent: interval.map(|i| i.1),
        verdict,
        blocks: 14,
        saves_w: None,
        more_blocks: None,
        sentence: String::new(),
    }
}

/// After its first block, with a trial that did not count.
pub(crate) fn live() -> ExperimentLive {
    let trials = vec![
        mark(0, 0, 0, WORKLOADS[0], None),
        mark(1, 0, 1, WORKLOADS[0], Some("cpu.turbo was changed by somebody else")),
        mark(2, 0, 1, WORKLOADS[0], None),
        mark(3, 0, 0, WORKLOADS[1], None),
        mark(4, 0, 1, WORKLOADS[1], Some("I/O error")),
        mark(5, 1, 1, WORKLOADS[1], None),
    ];
    ExperimentLive {
        trial: Some(now(1, 0, WORKLOADS[0])),
        blocks: 1,
        effects: vec![
            effect(WORKLOADS[0], -3.0, Some((-4.1, -2.0)), Finding::Brake),
            effect(WORKLOADS[1], 0.1, None, Finding::Undecided),
        ],
        left: Some(left()),
        note: Some("waits until the machine is quiet".into()),
        headline: "Nothing can be said yet.".into(),
        ..ExperimentLive::new(head(), trials)
    }
}
