use super::side_by_side;
use crate::design::{Host, plan};
use crate::report::report;
use protocol::experiment::side_by_side::{EffectRow, SideBySide};
use protocol::experiment::{Base, Design, ExperimentFile, ExperimentRecord, ExperimentSpec, Finding, Metric, Trial};
use protocol::host::{DirectIo, DriveFacts, HostFacts, Link, TargetFacts, TargetKind};
use protocol::knob::Knob;
use protocol::run::RunState;
use protocol::units::BytesPerSecond;

fn knob(id: &str) -> Knob {
    let [on, off] = ["on", "off"].map(String::from);
    Knob {
        id: id.into(),
        title: id.into(),
        value: Some(on.clone()),
        values: vec![on.clone(), off.clone()],
        saving_value: Some(on),
        performance_value: Some(off),
        writable: true,
        ..Knob::default()
    }
}

/// What one host measured on a drive that reads at `mb` MB/s, of which its link power management costs a share.
fn measured(host: &str, ports: [&str; 2], ceiling: f64, mb: f64, cost: f64) -> ExperimentFile {
    let spec = r#"{"design":"one-at-a-time","target":"/mnt","workloads":["seq1m-qd1"],"seed":7}"#;
    let spec = ExperimentSpec { from: Base::AllPerformance, ..serde_json::from_str(spec).unwrap() };
    let knobs = vec![knob(&format!("sata.link-power@{host}")), knob("cpu.c1e")];
    let plan = plan(&spec, Host { knobs: &knobs, waits: &[] }).unwrap();
    let mut trials = Vec::new();
    for block in 0..30u32 {
        for (c, configuration) in (0u32..).zip(&plan.configurations) {
            let saves = configuration.set.iter().any(|a| a.id.starts_with("sata") && a.value == "on");
            let number = u32::try_from(trials.len()).unwrap();
            let noise = 0.997 + 0.0006 * f64::from((number * 7 + block * 3) % 11);
            let speed = mb * 1e6 * noise * if saves { 1.0 - cost } else { 1.0 };
            trials.push(Trial {
                number,
                block,
                configuration: c,
                workload: "seq1m-qd1".into(),
                metrics: [(Metric::Bw, speed), (Metric::Iops, speed / 1e6), (Metric::CpuPerIo, 1e6)].into(),
                latency: vec![],
                started_at: "2026-11-30T20:00:00Z".into(),
                void: None,
            });
        }
    }
    let report = report(&spec, &plan, &knobs, trials);
    let link = Link {
        current: ports[0].into(),
        max: Some(ports[1].into()),
        ceiling: Some(BytesPerSecond(ceiling)),
        bottleneck: None,
    };
    let experiment = ExperimentRecord {
        id: format!("of-{host}"),
        format: 1,
        version: "0.1.0".into(),
        started_at: "2026-11-30T20:00:00Z".into(),
        configurations: plan.configurations.clone(),
        spec,
        knobs,
        waits: vec![],
        impossible: vec![],
        sweep: vec![],
        host: HostFacts { hostname: Some(host.into()), kernel: Some("6.12".into()), ..HostFacts::default() },
        target: TargetFacts {
            path: "/mnt".into(),
            kind: TargetKind::Directory,
            filesystem: None,
            mount_point: None,
            mount_options: None,
            device: None,
            dev: None,
            size: None,
            free: None,
            total: None,
            direct: DirectIo { supported: true, ..DirectIo::default() },
        },
        drive: Some(DriveFacts { name: "sda".into(), link: Some(link), ..DriveFacts::default() }),
        imported: false,
    };
    ExperimentFile { experiment, state: RunState::Done, finished_at: None, error: None, report }
}

/// The same drive behind one lane of two generations.
fn lanes() -> [ExperimentFile; 2] {
    [
        measured("p67", ["PCIe 2.0 x1", "PCIe 2.0 x1"], 500e6, 400.0, 0.10),
        measured("p55", ["PCIe 1.0 x1", "PCIe 2.0 x1"], 250e6, 200.0, 0.20),
    ]
}

fn sentences(compared: &SideBySide) -> Vec<&str> {
    compared.differences.iter().map(|d| d.sentence.as_str()).collect()
}

fn primary<'a>(compared: &'a SideBySide, knob: &str) -> &'a EffectRow {
    compared.effects.iter().find(|row| row.primary && row.knob == knob).unwrap()
}

#[test]
fn speeds_stand_beside_link_ceiling_share_and_cpu() {
    let compared = side_by_side(&lanes());
    assert_eq!(sentences(&compared), ["link: PCIe 2.0 x1 against PCIe 1.0 x1"]);
    let row = compared.speeds.iter().find(|r| r.configuration.as_deref() == Some("all-performance")).unwrap();
    let cells: Vec<_> = row.cells.iter().flatten().collect();
    for (cell, (mb, share, cpu)) in cells.iter().zip([(400.0, 0.8, 40.0), (200.0, 0.8, 20.0)]) {
        let near = |value: Option<f64>, truth: f64| (value.unwrap() / truth - 1.0).abs() < 0.01;
        assert!(near(cell.bytes_per_second, mb * 1e6) && near(cell.share, share) && near(cell.cpu_percent, cpu));
        assert_eq!(cell.n, 30);
    }
    assert_eq!(cells[0].against_first, None);
    let change = cells[1].against_first.unwrap();
    let (low, high) = (change.low_percent.unwrap(), change.high_percent.unwrap());
    assert!((change.estimate_percent + 50.0).abs() < 0.5 && low < -50.0 + 0.1 && high > -50.0 - 0.1, "{change:?}");
}

#[test]
fn the_same_knob_stands_in_one_row_whatever_its_device_is_called() {
    let compared = side_by_side(&lanes());
    let row = primary(&compared, "sata.link-power");
    let cells: Vec<_> = row.cells.iter().flatten().collect();
    assert_eq!([&cells[0].knob, &cells[1].knob], ["sata.link-power@p67", "sata.link-power@p55"]);
    assert!(cells.iter().all(|c| c.verdict == Finding::Brake));
    // Nine tenths are left on one, eight on the other.
    let change = cells[1].against_first.unwrap();
    assert!((change.estimate_percent - 100.0 * (0.8 / 0.9 - 1.0)).abs() < 0.5, "{change:?}");
    assert!(change.low_percent.unwrap() < change.estimate_percent && change.high_percent.unwrap() < 0.0, "{change:?}");
    let other = primary(&compared, "cpu.c1e").cells[1].as_ref().unwrap().against_first.unwrap();
    assert!(other.low_percent.unwrap() < 0.0 && other.high_percent.unwrap() > 0.0, "{other:?}");
    let first_secondary = compared.effects.iter().position(|r| !r.primary).unwrap();
    assert!(compared.effects.iter().skip(first_secondary).all(|r| !r.primary), "verdicts come first");
}

#[test]
fn what_forbids_a_comparison_comes_first_and_takes_the_numbers_away() {
    let [one, mut other] = lanes();
    other.experiment.target.direct.supported = false;
    other.experiment.host.kernel = Some("6.17".into());
    other.experiment.version = "0.2.0".into();
    let compared = side_by_side(&[one, other]);
    let said = sentences(&compared);
    assert_eq!(said[0], "not comparable: page cache: direct against page cache");
    assert!(
        said.contains(&"kernel: 6.12 against 6.17") && said.contains(&"version of Brakecheck: 0.1.0 against 0.2.0")
    );
    assert!(compared.speeds.iter().flat_map(|r| &r.cells).flatten().all(|c| c.against_first.is_none()));
    assert!(
        primary(&compared, "cpu.c1e").cells[1].as_ref().unwrap().against_first.is_some(),
        "effects stay comparable"
    );
}

#[test]
fn one_name_for_two_workloads_is_no_comparison() {
    let [mut one, mut other] = lanes();
    for (file, bs) in [(&mut one, "4k"), (&mut other, "8k")] {
        let json = format!(r#"[{{"name":"db","rw":"randread","bs":"{bs}"}}]"#);
        file.experiment.spec.workloads = serde_json::from_str(&json).unwrap();
    }
    let compared = side_by_side(&[one, other]);
    assert!(sentences(&compared)[0].starts_with("not comparable: workload db: --rw randread --bs 4k"));
}

#[test]
fn settings_nobody_changed_and_names_of_other_settings_are_differences() {
    let [mut one, mut other] = lanes();
    one.experiment.knobs.push(knob("cpu.smt"));
    other.experiment.knobs.push(Knob { value: Some("off".into()), ..knob("cpu.smt") });
    other.experiment.configurations[0].set.pop();
    let compared = side_by_side(&[one, other]);
    let said = sentences(&compared);
    assert!(said.contains(&"cpu.smt: on against off"), "{said:?}");
    assert!(said.contains(&"settings of all-performance: cpu.c1e=off against none"), "{said:?}");
}

#[test]
fn designs_without_a_common_configuration_are_held_together_by_their_fastest() {
    let [one, mut other] = lanes();
    for (n, c) in other.experiment.configurations.iter_mut().enumerate() {
        c.name = format!("rung {n}");
    }
    other.experiment.spec.design = Design::Ladder;
    let compared = side_by_side(&[one, other]);
    let [row] = compared.speeds.as_slice() else { panic!("{:?}", compared.speeds) };
    assert_eq!(row.configuration, None);
    let names: Vec<_> = row.cells.iter().flatten().map(|c| c.configuration.as_str()).collect();
    assert!(!names[0].contains("sata") && names[1].starts_with("rung"), "{names:?}");
}

#[test]
fn swapping_the_sides_turns_the_ratio_over() {
    let [one, other] = lanes();
    let there = side_by_side(&[one.clone(), other.clone()]);
    let back = side_by_side(&[other, one]);
    let of =
        |compared: &SideBySide| primary(compared, "sata.link-power").cells[1].clone().unwrap().against_first.unwrap();
    let product = (1.0 + of(&there).estimate_percent / 100.0) * (1.0 + of(&back).estimate_percent / 100.0);
    assert!((product - 1.0).abs() < 1e-9, "{product}");
}

#[test]
fn nothing_and_one_alone_are_no_error() {
    assert_eq!(side_by_side(&[]), SideBySide::default());
    let [one, _] = lanes();
    let compared = side_by_side(&[one]);
    assert!(compared.differences.is_empty() && compared.sides.len() == 1);
}

#[test]
fn without_a_workload_in_common_nothing_is_compared() {
    let (a, mut b) = (measured("a", ["x", "x"], 1e9, 270.0, 0.1), measured("b", ["x", "x"], 1e9, 270.0, 0.1));
    let apart = |all: SideBySide| all.differences.into_iter().find(|d| d.what == "workloads");
    assert_eq!(apart(side_by_side(&[a.clone(), b.clone()])), None);
    b.experiment.spec.workloads = serde_json::from_str(r#"["4k-qd1"]"#).unwrap();
    let said = apart(side_by_side(&[a, b])).unwrap();
    assert!(said.forbids && said.sentence.starts_with("nothing can be compared"), "{said:?}");
    assert!(said.sentence.ends_with("workloads: seq1m-qd1 against 4k-qd1"), "{said:?}");
}
