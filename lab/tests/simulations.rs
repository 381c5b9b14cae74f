//! Short forms of the simulations of `make simulate`: fixed seeds, fewer experiments.

mod truth;

use lab::judge::Judge;
use protocol::experiment::{Effect, Finding, Stage};
use truth::staged::{check, check_spec};
use truth::{KNOBS, Leave, NOISE, USUAL, drawn_costs, experiment, knobs, planned_trials, right, six_knobs, spec};

#[test]
fn nothing_is_accused_where_nothing_costs() {
    let spec = spec();
    let (plan, judge) = (six_knobs(&spec), Judge::new(&spec, KNOBS));
    let mut accused = 0;
    for seed in 0..20 {
        let mut wrong = false;
        experiment(&plan, USUAL, &[0.0; KNOBS], seed, 40, Leave::Never, |_, d| {
            let finding = judge.quick(d);
            wrong |= matches!(finding, Finding::Brake | Finding::Helps);
            finding
        });
        accused += u32::from(wrong);
    }
    assert!(accused <= 1, "{accused} of 20");
}

#[test]
fn one_brake_of_3_percent_is_found_and_its_interval_holds() {
    let spec = spec();
    let (plan, judge) = (six_knobs(&spec), Judge::new(&spec, KNOBS));
    let mut good = 0;
    for seed in 0..10 {
        let mut costs = [0.0; KNOBS];
        let guilty = usize::try_from(seed).unwrap() % KNOBS;
        costs[guilty] = 0.03;
        let end = experiment(&plan, USUAL, &costs, seed, 60, Leave::Decided, |_, d| judge.quick(d));
        let brakes: Vec<_> = (0..KNOBS).filter(|k| end.findings[*k] == Finding::Brake).collect();
        let (low, high) = judge.judge(&end.differences[guilty]).interval.unwrap();
        good += u32::from(brakes == [guilty] && low <= 0.97f64.ln() && 0.97f64.ln() <= high);
    }
    assert!(good >= 9, "{good} of 10");
}

#[test]
fn verdicts_take_fewer_trials_than_a_planned_design() {
    let spec = spec();
    let (plan, judge) = (six_knobs(&spec), Judge::new(&spec, KNOBS));
    let (mut trials, mut wrong) = (0, 0);
    for seed in 0..6 {
        let costs = drawn_costs(seed);
        let end = experiment(&plan, USUAL, &costs, seed, 200, Leave::Decided, |_, d| judge.quick(d));
        trials += end.trials;
        let bad = |(f, c): (&Finding, &f64)| *f != Finding::Undecided && *f != right(*c);
        wrong += end.findings.iter().zip(&costs).filter(|pair| bad(*pair)).count();
    }
    assert_eq!(wrong, 0);
    let ratio = trials as f64 / 6.0 / planned_trials();
    assert!(ratio < 0.75, "{ratio}");
}

#[test]
fn a_check_accuses_nobody_who_is_innocent_at_any_look() {
    let (mut accused, knobs) = (0, knobs(8));
    for seed in 0..20 {
        let mut wrong = false;
        check(&check_spec(seed), &knobs, (USUAL, NOISE), &[0.0; 8], &[], |effects| {
            wrong |= effects.iter().any(|e| matches!(e.verdict, Finding::Brake | Finding::Helps));
        });
        accused += u32::from(wrong);
    }
    assert!(accused <= 1, "{accused} of 20");
}

#[test]
fn a_check_confirms_its_brakes_on_trials_of_their_own() {
    let (mut good, knobs) = (0, knobs(8));
    for seed in 0..10 {
        let mut costs = [0.0; 8];
        let guilty = usize::try_from(seed).unwrap() % 8;
        costs[guilty] = 0.05;
        let end = check(&check_spec(seed), &knobs, (USUAL, 0.01), &costs, &[], |_| {});
        let accused = |e: &&Effect| matches!(e.verdict, Finding::Brake | Finding::Helps);
        let brakes: Vec<_> = end.effects.iter().filter(accused).collect();
        assert!(brakes.iter().all(|e| e.stage == Some(Stage::Confirmation) && e.blocks <= end.blocks - end.screened));
        let primary: Vec<_> = end.effects.iter().filter(|e| e.primary).map(|e| e.knob.as_str()).collect();
        assert!(knobs.iter().all(|k| primary.iter().filter(|p| **p == k.id).count() == 1), "{primary:?}");
        let seen = brakes.iter().filter(|e| e.primary).all(|e| e.knob == knobs[guilty].id);
        good += u32::from(!brakes.is_empty() && seen);
    }
    assert!(good >= 9, "{good} of 10");
}

#[test]
fn a_check_goes_on_in_either_stage_as_if_it_had_not_stopped() {
    let knobs = knobs(4);
    let costs = [0.0, 0.06, 0.0, 0.02];
    let spec = check_spec(3);
    let whole = check(&spec, &knobs, (USUAL, 0.01), &costs, &[], |_| {});
    assert!(whole.screened > 0 && whole.blocks > whole.screened, "both stages ran");
    for cut in [1, whole.trials.len() / 3, whole.trials.len() * 2 / 3, whole.trials.len() - 1] {
        let again = check(&spec, &knobs, (USUAL, 0.01), &costs, &whole.trials[..cut], |_| {});
        assert_eq!((again.screened, again.blocks, &again.trials), (whole.screened, whole.blocks, &whole.trials));
        assert_eq!(again.effects, whole.effects);
    }
}
