//! Whole experiments, from trials to words.

use super::report;
use crate::analysis::Analysis;
use crate::design::{Host, Plan, plan};
use crate::forecast::{Forecast, forecast};
use crate::words::Titles;
use proptest::prelude::*;
use protocol::experiment::workloads::IDLE;
use protocol::experiment::{Base, Design, Effect, ExperimentReport, ExperimentSpec, Finding, Metric, Trial, Use};
use protocol::knob::Knob;
use std::collections::BTreeMap;

fn knob(id: &str, title: &str) -> Knob {
    Knob {
        id: id.into(),
        title: title.into(),
        value: Some("on".into()),
        values: vec!["on".into(), "off".into()],
        saving_value: Some("on".into()),
        performance_value: Some("off".into()),
        writable: true,
        ..Knob::default()
    }
}

fn host() -> Vec<Knob> {
    vec![knob("cpu.deep-idle", "deep idle states"), knob("cpu.epb", "energy bias")]
}

fn spec(design: Design) -> ExperimentSpec {
    let json = format!(r#"{{"design":"{design}","workloads":["4k-qd1","4k-qd1-paced","4k-qd32"]}}"#);
    ExperimentSpec { from: Base::AllPerformance, ..serde_json::from_str(&json).unwrap() }
}

/// What a machine would yield on which deep idle costs 20 % of single reads, and 3 W less at idle; a noise that repeats.
fn trials(plan: &Plan, blocks: u32) -> Vec<Trial> {
    let mut out = Vec::new();
    for block in 0..blocks {
        for (configuration, c) in plan.configurations.iter().enumerate() {
            let deep = c.set.iter().any(|a| a.id == "cpu.deep-idle" && a.value == "on");
            let number = u32::try_from(out.len()).unwrap();
            let noise = 0.997 + 0.0006 * f64::from((number * 7 + block * 3) % 11);
            let cost = |workload: &str| if deep && workload != "4k-qd32" { 0.8 } else { 1.0 };
            for workload in ["4k-qd1", "4k-qd1-paced", "4k-qd32"] {
                let rate = 10_000.0 * cost(workload) * noise;
                let metrics = BTreeMap::from([(Metric::Iops, rate), (Metric::LatencyMean, 1e9 / rate)]);
                out.push(trial(out.len(), block, configuration, workload, metrics));
            }
            let watts = if deep { 5.0 } else { 8.0 } * noise;
            out.push(trial(out.len(), block, configuration, IDLE, BTreeMap::from([(Metric::IdlePower, watts)])));
        }
    }
    out
}

fn trial(number: usize, block: u32, configuration: usize, workload: &str, metrics: BTreeMap<Metric, f64>) -> Trial {
    Trial {
        number: u32::try_from(number).unwrap(),
        block,
        configuration: u32::try_from(configuration).unwrap(),
        workload: workload.into(),
        metrics,
        latency: vec![],
        started_at: "2026-11-30T20:00:00Z".into(),
        void: None,
    }
}

fn planned(spec: &ExperimentSpec) -> Plan {
    plan(spec, Host { knobs: &host(), waits: &[] }).unwrap()
}

fn effect<'a>(r: &'a ExperimentReport, knob: &str, workload: &str, metric: Metric) -> &'a Effect {
    r.effects.iter().find(|e| e.knob == knob && e.workload == workload && e.metric == metric).unwrap()
}

#[test]
fn the_brake_is_named_with_its_cost_its_saving_and_what_to_do() {
    let spec = spec(Design::OneAtATime);
    let plan = planned(&spec);
    let r = report(&spec, &plan, &host(), trials(&plan, 24));
    let brake = effect(&r, "cpu.deep-idle", "4k-qd1", Metric::Iops);
    assert_eq!((brake.verdict, brake.blocks, brake.primary), (Finding::Brake, 24, true));
    assert!((brake.estimate_percent.unwrap() + 20.0).abs() < 1.0, "{brake:?}");
    assert!(brake.low_percent.unwrap() < -20.0 && brake.high_percent.unwrap() > -20.0);
    assert!((brake.saves_w.unwrap() - 3.0).abs() < 0.1);
    // A latency that rises is a cost of the same size.
    let paced = effect(&r, "cpu.deep-idle", "4k-qd1-paced", Metric::LatencyMean);
    assert!((paced.estimate_percent.unwrap() + 20.0).abs() < 1.0 && paced.primary);
    assert_eq!(effect(&r, "cpu.deep-idle", "4k-qd32", Metric::Iops).verdict, Finding::Free);
    assert_eq!(effect(&r, "cpu.epb", "4k-qd1", Metric::Iops).verdict, Finding::Free);
    assert!(r.headline.starts_with("The brakes are on. Keeping deep idle states at on costs"), "{}", r.headline);
    let advice =
        |knob: &str, purpose: Use| r.recommendation.iter().find(|a| a.knob == knob && a.purpose == purpose).unwrap();
    assert_eq!(advice("cpu.deep-idle", Use::Latency).value.as_deref(), Some("off"));
    assert_eq!(advice("cpu.deep-idle", Use::Throughput).keep_saving, Some(true));
    assert_eq!(advice("cpu.deep-idle", Use::Battery).keep_saving, Some(true));
    assert_eq!(advice("cpu.epb", Use::Latency).keep_saving, Some(true));
    let json = serde_json::to_value(&r).unwrap();
    assert_eq!(json["effects"][0]["verdict"], "brake");
    assert_eq!(json["recommendation"][0]["use"], "latency");
    assert_eq!(serde_json::from_value::<ExperimentReport>(json).unwrap(), r);
}

#[test]
fn void_trials_are_shown_and_do_not_count() {
    let spec = spec(Design::OneAtATime);
    let plan = planned(&spec);
    let mut all = trials(&plan, 24);
    let clean = report(&spec, &plan, &host(), all.clone());
    let mut void = trial(9999, 0, 1, "4k-qd1", BTreeMap::from([(Metric::Iops, 1.0)]));
    void.void = Some("AC power changed".into());
    all.push(void);
    let r = report(&spec, &plan, &host(), all);
    assert_eq!(r.effects, clean.effects);
    assert_eq!((r.void.len(), r.void[0].trial, r.void[0].reason.as_str()), (1, 9999, "AC power changed"));
}

#[test]
fn nothing_is_said_of_nothing() {
    for design in [Design::OneAtATime, Design::Ab, Design::Factorial, Design::Ladder] {
        let spec = spec(design);
        let plan = planned(&spec);
        for blocks in [0, 1, 3] {
            let r = report(&spec, &plan, &host(), trials(&plan, blocks));
            assert!(r.effects.iter().all(|e| e.verdict == Finding::Undecided && e.low_percent.is_none()));
            assert!(r.recommendation.iter().all(|a| a.value.is_none() && a.keep_saving.is_none()));
        }
    }
}

#[test]
fn the_forecast_ends_when_everything_is_settled() {
    let spec = spec(Design::OneAtATime);
    let plan = planned(&spec);
    let look = |blocks: u32, most: u32| {
        let mut analysis = Analysis::new(&spec, &plan, Titles::default());
        for t in trials(&plan, blocks) {
            analysis.add(&t);
        }
        forecast(&analysis, blocks, most)
    };
    // Three configurations, three workloads.
    let start = look(0, 60);
    assert!(start.least <= start.likely && start.likely <= start.most && start.most == 9 * 60, "{start:?}");
    let soon = look(14, 60);
    assert!(soon.least <= soon.likely && soon.likely <= soon.most && soon.likely < start.likely, "{soon:?}");
    assert_eq!(look(40, 60), Forecast::default());
    assert_eq!(look(5, 5), Forecast::default());
}

#[test]
fn a_factorial_finds_what_only_two_do_together() {
    let spec = spec(Design::Factorial);
    let plan = planned(&spec);
    let mut all = trials(&plan, 30);
    for t in &mut all {
        let both = plan.configurations[t.configuration as usize].set.iter().all(|a| a.value == "on");
        if let (true, Some(rate)) = (both, t.metrics.get_mut(&Metric::Iops)) {
            *rate *= 0.9;
        }
    }
    let r = report(&spec, &plan, &host(), all);
    let together = r.interactions.iter().find(|i| i.workload == "4k-qd32").unwrap();
    assert!(together.matters && (together.estimate_percent.unwrap() + 10.0).abs() < 1.0, "{together:?}");
    assert!(together.sentence.as_deref().unwrap().contains("deep idle states and energy bias together cost"));
    assert!(r.interactions.iter().any(|i| i.workload == "4k-qd1-paced" && !i.matters));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Neither the order in which blocks came nor the unit of a metric changes what is concluded.
    #[test]
    fn order_and_units_do_not_matter(turn in 0u32..14, unit in 1e-6f64..1e6) {
        let spec = spec(Design::OneAtATime);
        let plan = planned(&spec);
        let first = trials(&plan, 14);
        let mut second = first.clone();
        for t in &mut second {
            t.block = (t.block + turn) % 14;
            for (metric, v) in &mut t.metrics {
                // Watts are shown as such.
                *v *= if *metric == Metric::IdlePower { 1.0 } else { unit };
            }
        }
        second.reverse();
        let (a, b) = (report(&spec, &plan, &host(), first), report(&spec, &plan, &host(), second));
        for (x, y) in a.effects.iter().zip(&b.effects) {
            prop_assert_eq!(x.verdict, y.verdict);
            let near = |p: Option<f64>, q: Option<f64>| p.zip(q).is_none_or(|(p, q)| (p - q).abs() < 1e-6) && p.is_some() == q.is_some();
            prop_assert!(near(x.estimate_percent, y.estimate_percent) && near(x.low_percent, y.low_percent));
        }
    }
}

#[test]
fn an_experiment_too_short_for_any_verdict_says_how_long_it_must_be() {
    for design in [Design::OneAtATime, Design::Check] {
        let with = |max_blocks| ExperimentSpec { max_blocks, min_blocks: 2, ..spec(design) };
        let host = host();
        let plan = plan(&with(60), Host { knobs: &host, waits: &[] }).unwrap();
        let said = |max_blocks| Analysis::new(&with(max_blocks), &plan, Titles::default()).too_few();
        let enough = (2..60).find(|most| said(*most).is_none()).unwrap();
        assert!((8..40).contains(&enough), "{design}: {enough}");
        let short = said(enough - 1).unwrap();
        assert!(short.contains(&format!("it takes {enough} blocks at least")), "{design}: {short}");
    }
}
