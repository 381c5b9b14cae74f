//! An experiment that was never run, in which each verdict appears.

use crate::experiment::plan_of;
use lab::design::{Host, plan};
use protocol::experiment::outcome::FORMAT;
use protocol::experiment::record::GapPoint;
use protocol::experiment::workloads::IDLE;
use protocol::experiment::{Configuration, ExperimentFile, ExperimentRecord, ExperimentSpec, Metric, Trial};
use protocol::host::{DirectIo, DriveFacts, HostFacts, Link, TargetFacts, TargetKind};
use protocol::knob::Knob;
use protocol::result::PERCENTILES;
use protocol::run::RunState;
use protocol::units::{Micros, Nanos, Seconds};
use protocol::workload::Workload;
use std::collections::BTreeMap;

const CPU: &str = "/sys/devices/system/cpu";

fn knob(id: &str, title: &str, values: &[&str], saving: &str, performing: &str, source: &str) -> Knob {
    Knob {
        id: id.into(),
        title: title.into(),
        value: Some(saving.into()),
        values: values.iter().map(|v| (*v).into()).collect(),
        saving_value: Some(saving.into()),
        performance_value: Some(performing.into()),
        writable: true,
        source: source.into(),
        ..Knob::default()
    }
}

/// A laptop's settings, each as it is spelt by the catalogue.
pub(super) fn knobs() -> Vec<Knob> {
    vec![
        knob("cpu.turbo", "Turbo Boost", &["on", "off"], "off", "on", &format!("{CPU}/intel_pstate/no_turbo")),
        knob(
            "cpu.governor",
            "Frequency governor",
            &["performance", "powersave"],
            "powersave",
            "performance",
            &format!("{CPU}/cpufreq/policy0/scaling_governor"),
        ),
        knob(
            "cpu.epb",
            "Energy performance bias",
            &["performance", "balance-performance", "normal", "balance-power", "power"],
            "power",
            "performance",
            &format!("{CPU}/cpu0/power/energy_perf_bias"),
        ),
        knob(
            "cpu.deep-idle",
            "C-states",
            &["C1", "C1E", "C6", "POLL"],
            "C6",
            "C1",
            &format!("{CPU}/cpu0/cpuidle/state0/disable"),
        ),
        knob(
            "pcie.aspm",
            "ASPM policy",
            &["default", "performance", "powersave", "powersupersave"],
            "powersupersave",
            "performance",
            "/sys/module/pcie_aspm/parameters/policy",
        ),
        knob(
            "sata.link-power@host0",
            "SATA link power",
            &["max_performance", "medium_power", "med_power_with_dipm"],
            "med_power_with_dipm",
            "max_performance",
            "/sys/class/scsi_host/host0/link_power_management_policy",
        ),
        knob(
            "nvme.apst@nvme0",
            "NVMe APST",
            &["off", "100000 us", "auto"],
            "auto",
            "off",
            "/sys/class/nvme/nvme0/power/pm_qos_latency_tolerance_us",
        ),
    ]
}

/// Speed that remains with a saving value.
fn speed(id: &str, workload: &str) -> f64 {
    match (id, workload) {
        ("cpu.deep-idle", "4k-qd1") => 0.81,
        ("cpu.deep-idle", "4k-qd1-paced") => 0.66,
        ("sata.link-power@host0", "4k-qd1-paced") => 0.9,
        ("cpu.epb", _) => 0.99,
        ("pcie.aspm", "4k-qd32") => 1.06,
        _ => 1.0,
    }
}

/// Repeats, and has no mean of its own: between -1 and 1.
fn noise(number: u32) -> f64 {
    let mixed = number.wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(2_246_822_519);
    f64::from(mixed >> 8) / f64::from(1 << 23) - 1.0
}

fn trial(number: u32, block: u32, configuration: u32, c: &Configuration, workload: &str) -> Trial {
    let saves = |id: &str| c.set.iter().any(|a| a.id == id && a.value == saving(id));
    let quiet = 1.0 + 0.006 * noise(number);
    let metrics = if workload == IDLE {
        let watts = if saves("cpu.deep-idle") { 5.1 } else { 11.2 } - if saves("cpu.turbo") { 0.3 } else { 0.0 };
        BTreeMap::from([(Metric::IdlePower, watts * quiet)])
    } else {
        let base = match workload {
            "4k-qd1" => 11_000.0,
            "4k-qd32" => 96_000.0,
            _ => 200.0,
        };
        let all: f64 = knobs().iter().filter(|k| saves(&k.id)).map(|k| speed(&k.id, workload)).product();
        let rate = if base > 200.0 { base * all * quiet } else { base };
        let latency = 84_000.0 / all / quiet;
        BTreeMap::from([
            (Metric::Iops, rate),
            (Metric::Bw, rate * 4096.0),
            (Metric::LatencyMean, latency),
            (Metric::EnergyPerIo, 1e-4 / all * quiet),
        ])
    };
    let mean = metrics.get(&Metric::LatencyMean).copied().unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a latency")]
    let at = |p: f64| (p, Nanos((mean * (0.7 - 0.25 * (1.0 - p / 100.0).ln())) as u64));
    let latency = if workload == IDLE { vec![] } else { PERCENTILES.iter().map(|p| at(*p)).collect() };
    let (workload, started_at) = (workload.into(), "2026-11-30T20:00:00Z".into());
    Trial { number, block, configuration, workload, metrics, latency, started_at, void: None }
}

fn saving(id: &str) -> String {
    knobs().into_iter().find(|k| k.id == id).and_then(|k| k.saving_value).unwrap_or_default()
}

/// An experiment of these keys (TOML), after so many blocks.
pub(super) fn experiment(spec: &str, blocks: u32) -> ExperimentFile {
    let spec: ExperimentSpec = toml::from_str(spec).unwrap();
    let knobs = knobs();
    let configurations = plan(&spec, Host { knobs: &knobs, waits: &[] }).unwrap().configurations;
    let mut trials = Vec::new();
    for block in 0..blocks {
        for (i, c) in (0..).zip(&configurations) {
            let workloads = spec.expanded_workloads();
            for workload in workloads.iter().map(Workload::label).chain([IDLE.into()]) {
                trials.push(trial(u32::try_from(trials.len()).unwrap(), block, i, c, &workload));
            }
        }
    }
    let mut void = trials.first().cloned().unwrap();
    void.number = u32::try_from(trials.len()).unwrap();
    void.void = Some("cpu.turbo was changed by somebody else".into());
    trials.push(void);
    let gap = |(us, ns): &(u64, f64)| GapPoint { gap: Seconds(Micros(*us)), latency_ns: *ns };
    let record = ExperimentRecord {
        id: "20261130-200000-abcd".into(),
        format: FORMAT,
        version: "0.1.0".into(),
        started_at: "2026-11-30T20:00:00Z".into(),
        spec,
        knobs,
        waits: vec![],
        impossible: vec![],
        configurations,
        sweep: [(1000, 84e3), (10_000, 90e3), (200_000, 190e3), (1_000_000, 2.4e6)].iter().map(gap).collect(),
        host: HostFacts {
            hostname: Some("bench".into()),
            kernel: Some("6.12.0".into()),
            cpu_model: Some("Core i7-8650U".into()),
            cpus: Some(8),
            ..HostFacts::default()
        },
        target: TargetFacts {
            path: "/mnt/ssd".into(),
            kind: TargetKind::Directory,
            filesystem: Some("ext4".into()),
            mount_point: None,
            mount_options: None,
            device: None,
            dev: None,
            size: None,
            free: None,
            total: None,
            direct: DirectIo::default(),
        },
        drive: Some(DriveFacts {
            name: "sda".into(),
            model: Some("Samsung SSD 850".into()),
            serial: Some("S2R5NX0J".into()),
            firmware: Some("EMT02B6Q".into()),
            link: Some(Link {
                current: "SATA 3.0 Gb/s".into(),
                max: Some("SATA 6.0 Gb/s".into()),
                ceiling: None,
                bottleneck: None,
            }),
            ..DriveFacts::default()
        }),
        imported: false,
    };
    let report = lab::report::report(&record.spec, &plan_of(&record).unwrap(), &record.knobs, trials);
    let finished_at = Some("2026-11-30T20:10:00Z".into());
    ExperimentFile { experiment: record, state: RunState::Done, finished_at, error: None, report }
}

/// Each knob alone: brakes, a gain, what is free, and one that lies on the threshold.
pub(crate) fn one_at_a_time() -> ExperimentFile {
    let text = "design = 'one-at-a-time'\nfrom = 'all-performance'\ntarget = '/mnt/ssd'\nseed = 7\n\
        workloads = ['4k-qd1', '4k-qd1-paced', '4k-qd32']";
    experiment(text, 24)
}
