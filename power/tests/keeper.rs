//! Setting knobs and putting them back, on written machines.

mod common;
mod knobs;

use knobs::{Host, wish};
use power::keeper::Scope;
use protocol::knob::{Lifetime, Origin, Restored, Verdict};
use std::fs;

fn ends(report: &protocol::knob::RestoreReport) -> Vec<Restored> {
    report.items.iter().map(|i| i.end).collect()
}

#[test]
fn a_setting_is_made_read_back_shown_as_ours_and_put_back() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    let outcomes = host.set(&mut keeper, &[("cpu.governor", "performance"), ("block.scheduler@sda", "none")]);
    assert_eq!(outcomes.iter().map(|o| o.verdict).collect::<Vec<_>>(), [Verdict::Applied; 2]);
    assert_eq!(host.read("/sys/block/sda/queue/scheduler"), "[none] mq-deadline\n");
    let state = keeper.list_among(&host.controls());
    let governor = state.knobs.iter().find(|k| k.id == "cpu.governor").unwrap();
    assert_eq!((governor.origin, governor.original.as_deref()), (Origin::Ours, Some("powersave")));
    assert_eq!((state.changed, governor.lifetime), (2, Some(Lifetime::Session)));
    assert_eq!(host.set(&mut keeper, &[("cpu.governor", "performance")])[0].verdict, Verdict::Unchanged);

    let script = keeper.script();
    assert_eq!(script.len(), 3, "{script:?}");
    assert!(script[0].starts_with("echo powersave > /") && script[0].ends_with("policy0/scaling_governor"));

    let report = keeper.restore(Scope::All, false);
    assert_eq!((ends(&report), report.is_complete()), (vec![Restored::Back; 3], true));
    assert!(keeper.is_clean() && keeper.script().is_empty());
    assert_eq!(host.files(), before);
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let host = Host::new();
    let mut keeper = host.keeper();
    let refused = [
        ("cpu.none", "x", "there is no such knob on this host"),
        ("cpu.governor", "ondemand", "its values are performance, powersave"),
        ("cpu.idle-driver", "x", "it is only shown"),
        ("pcie.aspm", "performance", "firmware owns ASPM: the kernel refuses changes"),
        (
            "pcie.link-speed@0000:01:00.0",
            "min",
            "risky: the drive can vanish; it is set on the Power page, where it falls back unless confirmed",
        ),
    ];
    for (id, value, why) in refused {
        let outcome = &host.set(&mut keeper, &[(id, value)])[0];
        assert_eq!((outcome.verdict, outcome.message.as_deref()), (Verdict::Refused, Some(why)));
    }
    assert!(keeper.is_clean());
}

#[test]
fn what_somebody_else_changed_is_told_and_left_alone_unless_forced() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    host.set(&mut keeper, &[("cpu.turbo", "off"), ("cpu.governor", "performance")]);
    host.write(knobs::GOVERNOR_1, "ondemand\n");
    let drift = keeper.drift();
    assert_eq!((drift.len(), drift[0].id.as_str(), drift[0].now.as_deref()), (1, "cpu.governor", Some("ondemand")));

    let report = keeper.restore(Scope::All, false);
    assert_eq!(ends(&report), [Restored::Back, Restored::Foreign, Restored::Back]);
    assert_eq!(
        (report.is_complete(), keeper.is_clean(), host.read(knobs::GOVERNOR_1).as_str()),
        (true, true, "ondemand\n")
    );
    // It is still known, also to the next keeper.
    drop(keeper);
    let mut keeper = host.keeper();
    assert_eq!(ends(&keeper.restore(Scope::Session, false)), [Restored::Foreign]);
    assert_eq!(ends(&keeper.restore(Scope::All, true)), [Restored::Back]);
    assert_eq!(host.files(), before);
    assert_eq!(ends(&keeper.restore(Scope::All, true)), []);
}

#[test]
fn a_keeper_that_dies_leaves_what_the_next_one_needs() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    host.set(&mut keeper, &[("cpu.governor", "performance")]);
    host.set(&mut keeper, &[("cpu.governor", "powersave"), ("cpu.latency-limit", "10 us")]);
    host.set(&mut keeper, &[("cpu.governor", "performance")]);
    assert_ne!(host.files(), before);
    drop(keeper);
    let mut keeper = host.keeper();
    assert_eq!(keeper.changed(), 2);
    assert!(keeper.restore(Scope::Session, false).is_complete());
    assert_eq!(host.files(), before);
}

#[test]
fn shorter_lives_end_first_and_uncover_longer_ones() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    let set = |keeper: &mut power::keeper::Keeper, value: &str, lifetime| {
        keeper.set_among(&host.controls(), &[wish("block.nomerges@sda", value)], lifetime, false).unwrap();
    };
    let now = || host.read("/sys/block/sda/queue/nomerges");
    set(&mut keeper, "simple", Lifetime::Kept);
    set(&mut keeper, "none", Lifetime::Session);
    assert_eq!(now(), "2\n");
    keeper.restore(Scope::Session, false);
    assert_eq!((now().as_str(), keeper.changed()), ("1\n", 1));
    keeper.restore(Scope::Session, false);
    assert_eq!(now(), "1\n");
    set(&mut keeper, "none", Lifetime::For { seconds: 0 });
    assert_eq!(keeper.next_expiry(), Some(std::time::Duration::ZERO));
    keeper.restore(Scope::Expired, false);
    assert_eq!((now().as_str(), keeper.next_expiry()), ("1\n", None));
    assert!(keeper.restore(Scope::All, false).is_complete());
    assert_eq!(host.files(), before);
}

#[test]
fn an_experiment_lies_over_everything_and_leaves_it_as_it_was() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    let set = |keeper: &mut power::keeper::Keeper, value: &str, lifetime| {
        keeper.set_among(&host.controls(), &[wish("block.nomerges@sda", value)], lifetime, false).unwrap();
    };
    let now = || host.read("/sys/block/sda/queue/nomerges");
    let lifetime = |keeper: &power::keeper::Keeper| {
        let knobs = keeper.list_among(&host.controls()).knobs;
        knobs.into_iter().find(|k| k.id == "block.nomerges@sda").unwrap().lifetime
    };
    for (scope, experiment) in [
        (Scope::Experiment, Lifetime::Experiment { seconds: 60 }),
        (Scope::Expired, Lifetime::Experiment { seconds: 0 }),
    ] {
        for (value, theirs) in [("none", Lifetime::Session), ("simple", Lifetime::For { seconds: 60 })] {
            set(&mut keeper, value, theirs);
            let set_by_hand = now();
            for value in ["all", "none", "simple"] {
                set(&mut keeper, value, experiment);
                assert_eq!(lifetime(&keeper), Some(experiment));
            }
            assert!(keeper.restore(scope, false).is_complete());
            assert_eq!((now(), lifetime(&keeper)), (set_by_hand, Some(theirs)));
            keeper.restore(Scope::All, false);
        }
    }
    // A session that ends takes the experiment with it.
    set(&mut keeper, "none", Lifetime::Experiment { seconds: 60 });
    assert_ne!(host.files(), before);
    assert!(keeper.restore(Scope::Session, false).is_complete());
    assert_eq!(host.files(), before);
}

#[test]
fn an_experiment_that_takes_a_risk_watches_over_it_itself() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    let risky = [wish("pcie.link-speed@0000:01:00.0", "min")];
    let experiment = Lifetime::Experiment { seconds: 60 };
    let refused = keeper.set_among(&host.controls(), &risky, experiment, false).unwrap();
    assert_ne!(refused[0].verdict, Verdict::Applied, "{refused:?}");
    assert_eq!(host.files(), before);
    let outcome = keeper.set_among(&host.controls(), &risky, experiment, true).unwrap();
    assert_eq!(outcome[0].verdict, Verdict::Applied, "{outcome:?}");
    assert_eq!(keeper.list_among(&host.controls()).confirm_ms, None);
    keeper.restore(Scope::Unconfirmed, false);
    assert_ne!(host.files(), before);
    assert!(keeper.restore(Scope::Experiment, false).is_complete());
    assert_eq!(host.files(), before);
}

#[test]
fn a_risky_setting_falls_back_unless_confirmed() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    let risky = [wish("pcie.link-speed@0000:01:00.0", "min")];
    let set = |keeper: &mut power::keeper::Keeper| {
        let outcome = keeper.set_among(&host.controls(), &risky, Lifetime::Session, true).unwrap();
        assert_eq!(outcome[0].verdict, Verdict::Applied, "{outcome:?}");
    };
    set(&mut keeper);
    assert!(keeper.list_among(&host.controls()).confirm_ms.is_some_and(|ms| ms <= 15_000.0));
    keeper.restore(Scope::Unconfirmed, false);
    assert_eq!(host.files(), before);
    set(&mut keeper);
    assert!(keeper.confirm().unwrap() && !keeper.confirm().unwrap());
    assert_eq!(ends(&keeper.restore(Scope::Unconfirmed, false)), []);
    assert_eq!((keeper.changed(), keeper.next_expiry()), (1, None));
    drop(keeper);
    assert!(host.keeper().restore(Scope::Session, false).is_complete());
    assert_eq!(host.files(), before);
}

#[test]
fn undoing_threads_puts_back_the_cpus_that_were_offline() {
    let host = Host::new();
    host.write("/sys/devices/system/cpu/cpu3/online", "0\n");
    let before = host.files();
    // Turning threads on brings back all CPUs; the kernel does that, here the test.
    let bring_back = || host.write("/sys/devices/system/cpu/cpu3/online", "1\n");
    let mut keeper = host.keeper();
    host.set(&mut keeper, &[("cpu.smt", "off")]);
    host.write("/sys/devices/system/cpu/smt/control", "on\n");
    bring_back();
    let report = keeper.restore(Scope::Session, false);
    assert_eq!(ends(&report), [Restored::Already, Restored::Back]);
    assert_eq!(host.files(), before);

    host.set(&mut keeper, &[("cpu.smt", "off")]);
    bring_back();
    host.set(&mut keeper, &[("cpu.smt", "on")]);
    assert_eq!((host.files() == before, keeper.is_clean()), (true, true));
    assert_eq!(ends(&keeper.restore(Scope::All, false)), []);
}

#[test]
fn another_device_in_the_place_of_ours_is_left_alone() {
    let host = Host::new();
    let mut keeper = host.keeper();
    host.set(&mut keeper, &[("block.scheduler@sda", "none")]);
    host.write("/sys/block/sda/device/wwid", "naa.other\n");
    let report = keeper.restore(Scope::All, false);
    assert_eq!(ends(&report), [Restored::Gone]);
    assert_eq!(host.read("/sys/block/sda/queue/scheduler"), "[none] mq-deadline\n");
    assert!(keeper.is_clean());
}

#[test]
fn what_is_gone_is_put_back_when_it_returns() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    host.set(&mut keeper, &[("block.scheduler@sda", "none")]);
    let (here, away) = (host.path("/sys/block/sda"), host.path("/sys/block/away"));
    fs::rename(&here, &away).unwrap();
    let report = keeper.restore(Scope::All, false);
    assert_eq!((ends(&report), report.is_complete()), (vec![Restored::Gone], false));
    fs::rename(&away, &here).unwrap();
    drop(keeper);
    assert_eq!(ends(&host.keeper().restore(Scope::All, false)), [Restored::Back]);
    assert_eq!(host.files(), before);
}

#[test]
fn what_could_not_go_back_is_tried_again_unless_it_was_set_again() {
    let host = Host::new();
    let before = host.files();
    let mut keeper = host.keeper();
    let (here, away) = (host.path("/sys/block/sda"), host.path("/sys/block/away"));
    for sets_again in [false, true] {
        host.set(&mut keeper, &[("block.scheduler@sda", "none")]);
        fs::rename(&here, &away).unwrap();
        keeper.restore(Scope::Session, false);
        assert_eq!((ends(&keeper.try_again()), keeper.owes()), (vec![], true));
        fs::rename(&away, &here).unwrap();
        if sets_again {
            host.set(&mut keeper, &[("block.scheduler@sda", "none")]);
            assert_eq!((ends(&keeper.try_again()), keeper.owes()), (vec![], false));
            keeper.restore(Scope::Session, false);
        } else {
            assert_eq!(ends(&keeper.try_again()), [Restored::Back]);
        }
        assert_eq!((host.files() == before, keeper.owes()), (true, false));
    }
}
