use super::{headline, recommend};
use crate::words::{self, Titles};
use protocol::experiment::workloads::RANDOM;
use protocol::experiment::{Effect, Finding, Metric, Recommendation, Use, WorkloadChoice};
use protocol::knob::Knob;
use protocol::workload::Workload;

/// A host whose Turbo Boost was found so.
fn found(value: &str) -> Titles {
    let knob = Knob {
        id: "cpu.turbo".into(),
        title: "Turbo Boost".into(),
        saving_value: Some("off".into()),
        ..Knob::default()
    };
    Titles::of(&[Knob { value: Some(value.into()), ..knob }])
}

/// Turbo Boost off against on, with a finding.
fn effect(verdict: Finding, saves_w: Option<f64>, titles: &Titles) -> Effect {
    let (low, high, blocks) = match verdict {
        Finding::Brake => (Some(-12.0), Some(-10.0), 20),
        Finding::Free => (Some(-0.4), Some(0.5), 20),
        Finding::Helps => (Some(3.0), Some(4.0), 20),
        Finding::Undecided => (None, None, 3),
    };
    let estimate = low.zip(high).map(|(low, high): (f64, f64)| f64::midpoint(low, high));
    let mut e = Effect {
        knob: "cpu.turbo".into(),
        from: "on".into(),
        to: "off".into(),
        base: None,
        stage: None,
        workload: RANDOM.into(),
        metric: Metric::Iops,
        primary: true,
        estimate_percent: estimate.or(Some(-78.0)),
        low_percent: low,
        high_percent: high,
        verdict,
        blocks,
        saves_w,
        more_blocks: (verdict == Finding::Undecided).then_some(10),
        sentence: String::new(),
    };
    e.sentence = words::effect(&e, titles, 1.0);
    e
}

fn workloads() -> Vec<Workload> {
    let spec = r#"{"design":"ab","workloads":["4k-qd1"]}"#;
    let spec: protocol::experiment::ExperimentSpec = serde_json::from_str(spec).unwrap();
    assert_eq!(spec.workloads, [WorkloadChoice::Named(RANDOM.into())]);
    spec.expanded_workloads()
}

fn advice(purpose: Use, verdict: Finding, saves_w: Option<f64>, host: &str) -> Recommendation {
    let titles = found(host);
    let all = recommend(&[effect(verdict, saves_w, &titles)], &workloads(), &titles, 1.0);
    all.into_iter().find(|r| r.purpose == purpose).unwrap()
}

#[test]
fn what_is_faster_when_it_saves_is_named() {
    let titles = found("on");
    let all = |verdict| headline(&[effect(verdict, None, &titles)], &titles, 1.0);
    assert!(all(Finding::Helps).ends_with("Faster with the saving value: Turbo Boost."), "{}", all(Finding::Helps));
    // A brake on one workload that helps another is a brake first.
    let both = headline(&[Finding::Brake, Finding::Helps].map(|v| effect(v, None, &titles)), &titles, 1.0);
    assert!(!both.contains("Faster"), "{both}");
}

#[test]
fn nothing_follows_from_what_is_undecided() {
    for host in ["on", "off", "on x 2, off x 1"] {
        for purpose in [Use::Latency, Use::Battery] {
            for saves in [None, Some(0.0), Some(3.0)] {
                let r = advice(purpose, Finding::Undecided, saves, host);
                assert_eq!((r.value, r.keep_saving), (None, None), "{}", r.sentence);
                let wanted = "Not known yet.";
                assert!(r.sentence.starts_with(wanted) && r.sentence.contains("10 more do at least"), "{}", r.sentence);
            }
        }
    }
}

#[test]
fn leave_is_said_of_the_value_as_found_alone() {
    for host in ["on", "off", "on x 2, off x 1"] {
        for purpose in [Use::Latency, Use::Battery] {
            for verdict in [Finding::Brake, Finding::Free, Finding::Helps] {
                for saves in [None, Some(0.0), Some(3.0)] {
                    let r = advice(purpose, verdict, saves, host);
                    let value = r.value.unwrap();
                    let wanted = if value == host { "Leave Turbo Boost at " } else { "Set Turbo Boost to " };
                    assert!(r.sentence.starts_with(&format!("{wanted}{value}")), "{host}: {}", r.sentence);
                    assert!(host == "off" || !r.sentence.contains("Keeping Turbo Boost at off"), "{}", r.sentence);
                }
            }
        }
    }
}

#[test]
fn a_change_is_advised_for_what_it_is_shown_to_gain() {
    let say = |purpose, verdict, saves, host| advice(purpose, verdict, saves, host).sentence;
    let (fast, cool) = (Use::Latency, Use::Battery);
    for (said, wanted) in [
        (
            say(fast, Finding::Free, Some(3.0), "on"),
            "Set Turbo Boost to off: it costs less than 1 % and saves 3.0 W at idle.",
        ),
        (say(fast, Finding::Free, Some(0.0), "on"), "Leave Turbo Boost at on: off saves no power here."),
        (say(fast, Finding::Free, None, "on"), "Leave Turbo Boost at on: what off saves was not measured."),
        (say(fast, Finding::Free, None, "off"), "Leave Turbo Boost at off: it costs less than 1 %."),
        (
            say(cool, Finding::Free, None, "on"),
            "Set Turbo Boost to off: it costs less than 1 %; what it saves was not measured.",
        ),
        (
            say(cool, Finding::Brake, None, "on"),
            "Leave Turbo Boost at on: what off saves was not measured. Setting Turbo Boost to off costs 10 to 12 % of single random reads.",
        ),
        (
            say(fast, Finding::Brake, None, "on"),
            "Leave Turbo Boost at on. Setting Turbo Boost to off costs 10 to 12 % of single random reads.",
        ),
        (
            say(cool, Finding::Brake, None, "off"),
            "Leave Turbo Boost at off, if power matters more. Keeping Turbo Boost at off costs 10 to 12 % of single random reads.",
        ),
    ] {
        assert_eq!(said, wanted);
    }
}

#[test]
fn the_headline_begins_with_a_brake_that_is_on() {
    let knob = |id: &str, value: &str| Knob { id: id.into(), value: Some(value.into()), ..Knob::default() };
    let titles = Titles::of(&[knob("cpu.turbo", "on"), knob("cpu.c1e", "on x 3, off x 1")]);
    let mut off = effect(Finding::Brake, None, &titles);
    off.estimate_percent = Some(-50.0);
    let mut on = Effect { knob: "cpu.c1e".into(), from: "off".into(), to: "on".into(), ..off.clone() };
    on.estimate_percent = Some(-11.0);
    on.sentence = words::effect(&on, &titles, 1.0);
    let none = headline(&[off.clone()], &titles, 1.0);
    assert!(none.starts_with("There are brakes, none of them on now. Setting cpu.turbo to off costs"), "{none}");
    let said = headline(&[off, on], &titles, 1.0);
    assert!(said.starts_with("The brakes are on. Setting cpu.c1e to on costs"), "{said}");
    assert!(said.ends_with(" Brakes that are not on now: cpu.turbo."), "{said}");
}

/// A way to wait against `enter`, with a finding.
fn way(to: &str, verdict: Finding, estimate: f64) -> Effect {
    let e = effect(verdict, None, &found("on"));
    let (low, high) = (Some(estimate - 1.0), Some(estimate + 1.0));
    let range = if verdict == Finding::Undecided { (None, None) } else { (low, high) };
    let (knob, from) = ("wait".to_owned(), "enter".to_owned());
    let (low_percent, high_percent) = range;
    let mut e = Effect { knob, from, to: to.into(), low_percent, high_percent, ..e };
    e.estimate_percent = Some(estimate);
    e.sentence = words::effect(&e, &Titles::default(), 1.0);
    e
}

#[test]
fn of_ways_to_wait_each_is_judged_and_none_is_said_to_be_on() {
    let said = |ways: &[Effect]| headline(ways, &Titles::default(), 1.0);
    let slow = [way("enter-no-iowait", Finding::Undecided, 0.0), way("poll", Finding::Brake, -11.0)];
    let wanted = "Waiting with poll instead of enter costs 10 to 12 % of single random reads. Undecided: waiting with enter-no-iowait.";
    assert_eq!(said(&slow), wanted);
    let fast = [way("epoll", Finding::Free, 0.0), way("poll", Finding::Helps, 11.0)];
    let wanted = "No brake found: no way to wait is shown to cost more than 1 %. Waiting with poll instead of enter gains 10 to 12 % of single random reads.";
    assert_eq!(said(&fast), wanted);
    let advice = recommend(&fast, &workloads(), &Titles::default(), 1.0);
    let [one] = &advice[..] else { panic!("{advice:?}") };
    assert_eq!((one.purpose, one.value.as_deref()), (Use::Latency, Some("poll")));
    let wanted =
        "Let programs wait with poll. Waiting with poll instead of enter gains 10 to 12 % of single random reads.";
    assert_eq!(one.sentence, wanted);
}

#[test]
fn nothing_is_advised_to_save_power_of_what_saves_none() {
    let knob = Knob { id: "sata.ncq@sda".into(), title: "NCQ".into(), value: Some("on".into()), ..Knob::default() };
    let titles = Titles::of(&[knob]);
    let mut e = Effect { knob: "sata.ncq@sda".into(), ..effect(Finding::Helps, None, &titles) };
    e.sentence = words::effect(&e, &titles, 1.0);
    let said = headline(&[e.clone()], &titles, 1.0);
    assert!(said.ends_with("Setting NCQ to off gains 3.0 to 4.0 % of single random reads."), "{said}");
    let advice = recommend(&[e], &workloads(), &titles, 1.0);
    assert!(advice.iter().all(|r| r.purpose == Use::Latency) && advice.len() == 1, "{advice:?}");
}
