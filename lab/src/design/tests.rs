//! Designs on a made-up host.

use super::*;
use protocol::experiment::{Base, Design, ExperimentSpec, Rung};
use protocol::knob::Knob;
use protocol::workload::Wait;

fn knob(id: &str, values: &[&str]) -> Knob {
    Knob {
        id: id.into(),
        value: values.first().map(|v| (*v).into()),
        values: values.iter().map(|v| (*v).into()).collect(),
        saving_value: values.first().map(|v| (*v).into()),
        performance_value: values.last().map(|v| (*v).into()),
        writable: true,
        ..Knob::default()
    }
}

fn host() -> Vec<Knob> {
    let read_only = |id: &str, reason: &str| Knob { writable: false, reason: Some(reason.into()), ..knob(id, &["on"]) };
    vec![
        knob("platform.profile", &["low-power", "balanced", "performance"]),
        knob("cpu.turbo", &["off", "on"]),
        Knob { values: ["C1", "C1E", "C6", "POLL"].map(Into::into).into(), ..knob("cpu.deep-idle", &["C6", "C1"]) },
        knob("cpu.c1e", &["on", "off"]),
        knob("cpu.governor", &["powersave", "performance"]),
        Knob {
            risk: Some("may lose the drive".into()),
            ..knob("pcie.link-speed@0000:01:00.0", &["2.5", "5.0", "8.0"])
        },
        Knob { saving_value: None, ..knob("sata.ncq@sda", &["off", "on"]) },
        read_only("pcie.aspm", "firmware owns ASPM: the kernel refuses changes"),
        read_only("cpu.virtualization", "only the firmware can change it"),
    ]
}

fn spec(design: Design, knobs: &[&str]) -> ExperimentSpec {
    ExperimentSpec { knobs: knobs.iter().map(|k| (*k).into()).collect(), ..ExperimentSpec::new(design, "/") }
}

fn planned(spec: &ExperimentSpec) -> Result<Plan, PlanError> {
    plan(&ExperimentSpec { risk: true, ..spec.clone() }, Host { knobs: &host(), waits: &Wait::ALL })
}

#[test]
fn every_design_compares_configurations_that_are_complete() {
    for design in Design::ALL {
        let plan = planned(&spec(design, &[])).unwrap();
        let ids: Vec<_> = plan.configurations[0].set.iter().map(|a| a.id.clone()).collect();
        for c in &plan.configurations {
            assert_eq!(c.set.iter().map(|a| a.id.clone()).collect::<Vec<_>>(), ids, "{design}: {}", c.name);
        }
        let joints = plan.joints.iter().map(|j| &j.weights);
        for weights in plan.contrasts.iter().map(|c| &c.weights).chain(joints) {
            assert!(weights.iter().map(|(_, w)| w).sum::<f64>().abs() < 1e-12, "{design}");
            assert!(weights.iter().all(|(c, _)| *c < plan.configurations.len()));
        }
        assert!(plan.contrasts.iter().all(|c| c.from != c.to), "{design}");
    }
}

#[test]
fn one_at_a_time_changes_one_thing() {
    let all = planned(&spec(Design::OneAtATime, &["cpu.turbo", "cpu.governor", "cpu.deep-idle"])).unwrap();
    assert_eq!((all.configurations.len(), all.contrasts.len()), (8, 6));
    for c in &all.contrasts {
        let [(to, _), (from, _)] = c.weights[..] else { panic!() };
        let (to, from) = (&all.configurations[to].set, &all.configurations[from].set);
        let changed: Vec<_> = to.iter().zip(from).filter(|(a, b)| a != b).collect();
        assert_eq!(changed.len(), 1);
        assert_eq!((&changed[0].0.value, &changed[0].1.value), (&c.to, &c.from));
    }
    let half = ExperimentSpec { from: Base::AllPerformance, ..spec(Design::OneAtATime, &["cpu.turbo", "cpu.c1e"]) };
    assert_eq!(planned(&half).unwrap().configurations.len(), 3);
    assert_eq!(planned(&spec(Design::OneAtATime, &["cpu.turbo"])).unwrap().configurations.len(), 2);
}

#[test]
fn the_queue_of_a_drive_is_off_against_on() {
    let plan = planned(&spec(Design::Ncq, &[])).unwrap();
    let names: Vec<_> = plan.configurations.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["all-performance", "sata.ncq@sda=off"]);
    let [c] = &plan.contrasts[..] else { panic!("{:?}", plan.contrasts) };
    assert_eq!((&*c.knob, &*c.from, &*c.to, &c.weights[..]), ("sata.ncq@sda", "on", "off", &[(1, 1.0), (0, -1.0)][..]));
}

#[test]
fn the_runs_of_2009_are_mapped_as_far_as_they_can_be() {
    let gigabyte = planned(&spec(Design::X58Gigabyte, &[])).unwrap();
    let names: Vec<_> = gigabyte.configurations.iter().map(|c| c.name.as_str()).collect();
    let runs = ["run 1", "run 2: C3/C6/C7 off", "run 4: Enhanced halt (C1E) off", "run 5: EIST (SpeedStep) off"];
    assert_eq!(names, runs);
    let knobs: Vec<_> = gigabyte.contrasts.iter().map(|c| (c.knob.as_str(), c.from.as_str(), c.to.as_str())).collect();
    let expected =
        [("cpu.deep-idle", "C1E", "C6"), ("cpu.c1e", "off", "on"), ("cpu.governor", "performance", "powersave")];
    assert_eq!(knobs, expected);
    let unmapped: Vec<_> = gigabyte.unmapped.iter().map(|u| u.setting.as_str()).collect();
    assert!(unmapped.contains(&"Multi-threading") && unmapped.contains(&"Thermal Monitor"), "{unmapped:?}");
    // Turbo Boost and the power plan stay at what performs, in every run.
    for c in &gigabyte.configurations {
        let has = |id: &str, value: &str| c.set.iter().any(|a| a.id == id && a.value == value);
        assert!(has("cpu.turbo", "on") && has("platform.profile", "performance"));
    }
    let supermicro = planned(&spec(Design::X58Supermicro, &[])).unwrap();
    let aspm = supermicro.unmapped.iter().find(|u| u.setting == "PCIe ASPM").unwrap();
    assert!(aspm.reason.contains("firmware owns ASPM"), "{}", aspm.reason);
}

#[test]
fn what_stays_enabled_in_all_runs_is_said_to_stay_as_found() {
    let host = |risk: Option<&str>| {
        let smt = Knob { value: Some("on".into()), risk: risk.map(Into::into), ..knob("cpu.smt", &[]) };
        host().into_iter().filter(|k| k.id != "cpu.smt").chain([smt]).collect::<Vec<_>>()
    };
    let said = |knobs: &[Knob]| {
        let spec = spec(Design::X58Gigabyte, &[]);
        let plan = super::plan(&spec, super::Host { knobs, waits: &[] }).unwrap();
        plan.unmapped.into_iter().find(|u| u.setting == "Multi-threading").unwrap().reason
    };
    assert_eq!(said(&host(None)), "cpu.smt stays as it was found (on): it is the same in all runs");
    assert_eq!(said(&host(Some("X."))), "cpu.smt stays as it was found (on): setting it is a risk: X.");
    // C1E is to be off from the fourth run on; here nothing sleeps lighter.
    let lightest = Knob { detail: Some("the lightest sleep of this CPU".into()), ..knob("cpu.c1e", &["on"]) };
    let host: Vec<_> = super::tests::host().into_iter().filter(|k| k.id != "cpu.c1e").chain([lightest]).collect();
    let plan = super::plan(&spec(Design::X58Gigabyte, &[]), super::Host { knobs: &host, waits: &[] }).unwrap();
    let c1e = plan.unmapped.iter().find(|u| u.setting == "Enhanced halt (C1E)").unwrap();
    let why = "nothing performs better here without it (the lightest sleep of this CPU)";
    assert_eq!(c1e.reason, format!("cpu.c1e stays as it was found (on): {why}"));
}

#[test]
fn a_ladder_keeps_what_its_rungs_have_changed() {
    let rungs =
        vec![rung("a", &[("cpu.c1e", "off")]), rung("b", &[("cpu.turbo", "on")]), rung("c", &[("cpu.c1e", "on")])];
    let ladder = planned(&ExperimentSpec { rung: rungs, ..spec(Design::Ladder, &[]) }).unwrap();
    let values: Vec<Vec<_>> =
        ladder.configurations.iter().map(|c| c.set.iter().map(|a| a.value.as_str()).collect()).collect();
    // Turbo, then C1E, as the host lists them; what the first rung does not mention is as it was found.
    assert_eq!(values, [["off", "off"], ["on", "off"], ["on", "on"]]);
    // The last rung turns a saving on, so it is the one in question.
    let last = ladder.contrasts.last().unwrap();
    assert_eq!((last.from.as_str(), last.to.as_str(), last.weights[0].0), ("off", "on", 2));
}

fn rung(name: &str, set: &[(&str, &str)]) -> Rung {
    Rung { name: name.into(), set: set.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect() }
}

/// "cpu.deep-idle=C6 cpu.c1e=on", of each configuration.
fn settings(plan: &Plan) -> Vec<String> {
    let words = |c: &protocol::experiment::Configuration| {
        c.set.iter().map(|a| format!("{}={}", a.id, a.value)).collect::<Vec<_>>().join(" ")
    };
    plan.configurations.iter().map(words).collect()
}

#[test]
fn of_two_knobs_for_the_same_files_one_follows_the_other() {
    let ladder = |rungs: &[Rung]| planned(&ExperimentSpec { rung: rungs.to_vec(), ..spec(Design::Ladder, &[]) });
    let plan = ladder(&[
        rung("deep", &[("cpu.deep-idle", "C6")]),
        rung("light", &[("cpu.deep-idle", "C1")]),
        rung("C1E", &[("cpu.c1e", "on")]),
        rung("no C1E", &[("cpu.c1e", "off")]),
        rung("spinning", &[("cpu.deep-idle", "POLL")]),
        rung("deep again", &[("cpu.deep-idle", "C6")]),
    ]);
    let plan = plan.unwrap();
    let wanted = [("C6", "on"), ("C1", "off"), ("C1E", "on"), ("C1", "off"), ("POLL", "off"), ("C6", "on")];
    assert_eq!(settings(&plan), wanted.map(|(deep, c1e)| format!("cpu.deep-idle={deep} cpu.c1e={c1e}")));
    // Each step is told by the knob that it is about.
    let told: Vec<_> = plan.contrasts.iter().map(|c| (c.knob.as_str(), c.from.as_str(), c.to.as_str())).collect();
    let (deep, c1e) = ("cpu.deep-idle", "cpu.c1e");
    let wanted =
        [(deep, "C1", "C6"), (c1e, "off", "on"), (c1e, "off", "on"), (deep, "C1", "POLL"), (deep, "POLL", "C6")];
    assert_eq!(told, wanted);

    let ab = [rung("light", &[("cpu.deep-idle", "C1")]), rung("C1E", &[("cpu.c1e", "on")])];
    let ab = planned(&ExperimentSpec { rung: ab.to_vec(), ..spec(Design::Ab, &[]) }).unwrap();
    assert_eq!(settings(&ab), ["cpu.deep-idle=C1 cpu.c1e=off", "cpu.deep-idle=C6 cpu.c1e=on"]);

    let deeper = ladder(&[rung("deep", &[("cpu.deep-idle", "C6")]), rung("x", &[("cpu.c1e", "off")])]);
    let deeper = deeper.unwrap_err().to_string();
    assert!(
        deeper.contains("rung `x`: cpu.c1e cannot be off with cpu.deep-idle at C6: both write the same"),
        "{deeper}"
    );
    let both = rung("x", &[("cpu.c1e", "on"), ("cpu.deep-idle", "C1")]);
    let both = ladder(&[rung("a", &[]), both]).unwrap_err().to_string();
    assert!(both.contains("rung `x`: cpu.c1e and cpu.deep-idle write the same files"), "{both}");
}

#[test]
fn two_knobs_for_the_same_files_are_not_tried_apart() {
    for design in [Design::OneAtATime, Design::Check, Design::Factorial, Design::Ladder, Design::Ab] {
        for named in [&["cpu.turbo", "cpu.c1e", "cpu.deep-idle"][..], &[]] {
            let plan = planned(&spec(design, named)).unwrap();
            assert!(plan.configurations.iter().all(|c| c.set.iter().all(|a| a.id != "cpu.c1e")), "{design}");
            let [left] = plan.unmapped.as_slice() else { panic!("{design}: {:?}", plan.unmapped) };
            assert!(
                left.setting == "cpu.c1e" && left.reason.contains("cpu.deep-idle write the same files"),
                "{left:?}"
            );
        }
        assert_eq!(planned(&spec(design, &["cpu.turbo", "cpu.c1e"])).unwrap().unmapped, []);
    }
}

#[test]
fn what_cannot_be_planned_is_said() {
    let set = |id: &str, value: &str| Rung { name: "x".into(), set: [(id.into(), value.into())].into() };
    let rungs = |r: Rung| ExperimentSpec {
        rung: vec![Rung { name: "a".into(), ..Rung::default() }, r],
        ..spec(Design::Ladder, &[])
    };
    let cases = [
        (spec(Design::OneAtATime, &["cpu.tubro"]), "unknown knob `cpu.tubro`; did you mean `cpu.turbo`?"),
        (spec(Design::Factorial, &["pcie.aspm"]), "pcie.aspm cannot be set here: firmware owns ASPM"),
        (rungs(set("cpu.virtualization", "off")), "cpu.virtualization cannot be set here"),
        (rungs(set("cpu.deep-idle", "C9")), "does not take `C9`"),
        (spec(Design::Ncq, &["cpu.smt"]), "it compares values of sata.ncq"),
        (ExperimentSpec { max_blocks: 1, ..spec(Design::Ab, &[]) }, "max_blocks is 1"),
    ];
    for (spec, word) in cases {
        let error = planned(&spec).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let bare = plan(&spec(Design::Ncq, &[]), Host { knobs: &[], waits: &[] }).unwrap_err().to_string();
    assert!(bare.contains("sata.ncq cannot be set here"), "{bare}");
    assert!(plan(&spec(Design::OneAtATime, &[]), Host { knobs: &[], waits: &[] }).is_err());
}

#[test]
fn the_same_seed_gives_the_same_order_and_settled_knobs_drop_out() {
    let plan = planned(&spec(Design::OneAtATime, &["cpu.turbo", "cpu.governor", "cpu.deep-idle"])).unwrap();
    let all = Open::all(&plan, 2);
    let orders: Vec<_> = (0..20).map(|b| block(&plan, 7, b, &all)).collect();
    assert_eq!(orders, (0..20).map(|b| block(&plan, 7, b, &all)).collect::<Vec<_>>());
    assert_ne!(orders, (0..20).map(|b| block(&plan, 8, b, &all)).collect::<Vec<_>>());
    for order in &orders {
        assert_eq!(order.len(), 16);
        assert_eq!(order.iter().collect::<std::collections::BTreeSet<_>>().len(), 16);
        // Each configuration is set once.
        assert!(order.chunks(2).all(|c| c[0].configuration == c[1].configuration && c[0].workload != c[1].workload));
    }
    let few = Open([(1, 0)].into());
    let left = block(&plan, 7, 20, &few);
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|s| s.workload == 0));
    assert!(block(&plan, 7, 21, &Open::default()).is_empty());
}

#[test]
fn every_configuration_is_first_about_equally_often() {
    let plan = planned(&spec(Design::OneAtATime, &["cpu.turbo", "cpu.governor", "cpu.deep-idle"])).unwrap();
    let all = Open::all(&plan, 1);
    let mut first = [0u32; 8];
    for number in 0..4000 {
        first[block(&plan, 1, number, &all)[0].configuration] += 1;
    }
    // 500 expected, standard deviation 21.
    assert!(first.iter().all(|n| (400..600).contains(n)), "{first:?}");
}

#[test]
fn only_what_can_matter_for_the_drive_is_relevant() {
    let mut knobs = host();
    knobs.push(knob("nvme.apst@nvme0", &["auto", "off"]));
    knobs.push(knob("cpu.smt", &["off", "on"]));
    let ids = relevant(&knobs, &["sda", "host0"], Design::Check);
    assert_eq!(ids, ["platform.profile", "cpu.turbo", "cpu.deep-idle", "cpu.c1e", "cpu.governor"]);
    assert!(relevant(&knobs, &[], Design::Ab).contains(&"cpu.smt".to_owned()));
    assert!(relevant(&knobs, &["nvme0"], Design::Check).contains(&"nvme.apst@nvme0".to_owned()));
}

#[test]
fn of_two_knobs_for_the_same_hardware_one_stands_back() {
    let mut knobs = host();
    knobs.push(knob("cpu.latency-limit", &["none", "0"]));
    knobs.push(knob("pcie.aspm-l1@0000:01:00.0", &["on", "off"]));
    let ids = relevant(&knobs, &["0000:01:00.0"], Design::Check);
    assert!(!ids.contains(&"cpu.latency-limit".to_owned()), "{ids:?}");
    // The firmware owns the policy here, so the link's own bit is tried.
    assert!(ids.contains(&"pcie.aspm-l1@0000:01:00.0".to_owned()), "{ids:?}");
    let named = spec(Design::OneAtATime, &["cpu.latency-limit", "cpu.deep-idle"]);
    assert_eq!(plan(&named, Host { knobs: &knobs, waits: &[] }).unwrap().contrasts.len(), 4);
    let supermicro = plan(&spec(Design::X58Supermicro, &[]), Host { knobs: &knobs, waits: &[] }).unwrap();
    assert!(supermicro.contrasts.iter().any(|c| c.knob == "pcie.aspm-l1@0000:01:00.0"));
}

#[test]
fn a_power_plan_is_the_cpus_where_the_firmware_has_none() {
    let none = Knob {
        writable: false,
        values: vec![],
        reason: Some("the firmware offers no profiles".into()),
        ..knob("platform.profile", &["low-power", "performance"])
    };
    let of = |knobs: &[Knob], named: &[&str]| {
        plan(&spec(Design::PowerPlan, named), Host { knobs, waits: &[] }).map(|p| {
            let pairs: Vec<_> = p.contrasts.iter().map(|c| format!("{}: {} {}", c.knob, c.from, c.to)).collect();
            (pairs, p.unmapped)
        })
    };
    let (pairs, unmapped) = of(&host(), &[]).unwrap();
    let profile = ["platform.profile: performance low-power", "platform.profile: performance balanced"];
    assert_eq!((pairs, unmapped), (profile.map(String::from).into(), vec![]));
    let knobs = [
        none.clone(),
        knob("cpu.epp", &["power", "balance_power", "performance"]),
        knob("cpu.governor", &["powersave", "performance"]),
    ];
    let (pairs, unmapped) = of(&knobs, &[]).unwrap();
    assert_eq!(pairs, ["cpu.epp: performance power", "cpu.epp: performance balance_power"]);
    assert_eq!(unmapped[0].reason, "the firmware offers no profiles");
    assert_eq!(of(&knobs, &["cpu.governor"]).unwrap().0, ["cpu.governor: performance powersave"]);
    let said = of(&[none], &[]).unwrap_err().to_string();
    assert!(said.contains("platform.profile cannot be set here: the firmware offers no profiles"), "{said}");
}

#[test]
fn what_turns_out_impossible_is_left_out_with_its_reason() {
    let whole = planned(&spec(Design::OneAtATime, &["cpu.turbo", "cpu.governor"])).unwrap();
    let at = whole.configurations.iter().position(|c| c.name == "cpu.governor=powersave").unwrap();
    let rest = whole.without(&[(at, "the kernel refuses it".into())]);
    assert_eq!((rest.configurations.len(), rest.contrasts.len()), (5, 3));
    assert_eq!(rest.unmapped.len(), 1);
    assert!(rest.unmapped[0].setting.contains("cpu.governor") && rest.unmapped[0].reason.contains("refuses"));
    for c in &rest.contrasts {
        let [(to, _), (from, _)] = c.weights[..] else { panic!() };
        let (to, from) = (&rest.configurations[to].set, &rest.configurations[from].set);
        assert_eq!(to.iter().zip(from).filter(|(a, b)| a != b).count(), 1);
    }
}

#[test]
fn a_risk_is_taken_by_name_or_not_at_all() {
    let host = host();
    let host = Host { knobs: &host, waits: &Wait::ALL };
    let error = plan(&spec(Design::PcieLink, &[]), host).unwrap_err().to_string();
    assert!(error.contains("pcie.link-speed@0000:01:00.0 is risky: may lose the drive; `risk = true`"), "{error}");
    // What is not risky needs no word.
    plan(&spec(Design::Ncq, &[]), host).unwrap();
}
