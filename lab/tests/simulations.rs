//! Short forms of the simulations of `make simulate`: fixed seeds, fewer experiments.

mod truth;

use lab::judge::Judge;
use protocol::experiment::Finding;
use truth::{KNOBS, Leave, USUAL, drawn_costs, experiment, planned_trials, right, six_knobs, spec};

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
