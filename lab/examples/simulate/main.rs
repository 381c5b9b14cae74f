//! The statistics against known truth: three bars, and how other methods fare on the same trials.
//!
//! `make simulate`, or with the number of experiments: `cargo run --release -p lab --example simulate -- 200`.

mod rivals;
#[path = "../../tests/truth/mod.rs"]
mod truth;

use lab::judge::Judge;
use protocol::experiment::{Effect, Finding};
use std::process::ExitCode;
use truth::staged::{check, check_spec};
use truth::{
    KNOBS, Leave, NOISE, Trouble, USUAL, drawn_costs, experiment, knobs, paired_variance, planned_trials, right,
    six_knobs, spec,
};

fn main() -> ExitCode {
    let experiments = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(2000u64);
    println!(
        "{experiments} experiments each; {KNOBS} knobs; per trial: lognormal 2 %, AR(1) 0.5, drift 10 %, 1 % of trials"
    );
    println!("three times slower; threshold 1 %, confidence 95 % over all knobs\n");
    let mut kept = true;
    let share = |n: u64| 100.0 * n as f64 / experiments as f64;

    let (accusing, missing) = null(experiments, USUAL);
    println!("nothing costs, watched after each of 60 blocks");
    kept &= bar("experiments with any false brake or helps", share(accusing), "at most 5 %", share(accusing) <= 5.0);
    kept &=
        bar("experiments with any interval ever off the truth", share(missing), "at most 5 %", share(missing) <= 5.0);

    let harsh = Trouble { memory: 0.9, outliers: 0.05 };
    let (accusing, missing) = null(experiments, harsh);
    println!("  the same with AR(1) 0.9 and 5 % of trials three times slower");
    kept &= bar("experiments with any false brake or helps", share(accusing), "at most 5 %", share(accusing) <= 5.0);
    kept &=
        bar("experiments with any interval ever off the truth", share(missing), "at most 5 %", share(missing) <= 5.0);

    let (found, covered) = one_brake(experiments);
    println!("\none knob costs 3 %, up to 60 blocks");
    kept &= bar("found, and no other accused", share(found), "at least 90 %", share(found) >= 90.0);
    kept &= bar("every interval holds the truth at the stop", share(covered), "at least 95 %", share(covered) >= 95.0);

    let few = (experiments / 4).max(1);
    let (trials, undecided, wrong) = verdicts(few);
    let ratio = trials / planned_trials();
    println!(
        "\ncosts drawn from 0, 3 and 10 %, until every knob has its verdict, up to 200 blocks ({few} experiments)"
    );
    println!(
        "  a fixed-n paired design: standard deviation of a difference {:.2} %,",
        100.0 * paired_variance().sqrt()
    );
    println!("  {:.0} trials for power 0.9 at 1 %; here {trials:.0} on average", planned_trials());
    kept &= bar("trials against the fixed-n design", 100.0 * ratio, "at most 70 %", ratio <= 0.7);
    println!("  knobs undecided after 200 blocks {:.2} %, wrong verdicts {:.2} %\n", 100.0 * undecided, 100.0 * wrong);

    kept &= checks(few);

    rivals::table(few);
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn bar(what: &str, value: f64, bar: &str, kept: bool) -> bool {
    println!("  {what:<52} {value:6.2} %  ({bar}: {})", if kept { "kept" } else { "MISSED" });
    kept
}

/// Experiments with a false accusation or praise, and with an interval off the truth, at any look.
fn null(experiments: u64, trouble: Trouble) -> (u64, u64) {
    let spec = spec();
    let (plan, judge) = (six_knobs(&spec), Judge::new(&spec, KNOBS));
    let (mut accusing, mut missing) = (0, 0);
    for seed in 0..experiments {
        let (mut any_accused, mut any_off) = (false, false);
        experiment(&plan, trouble, &[0.0; KNOBS], seed, 60, Leave::Never, |_, d| {
            let finding = judge.quick(d);
            any_accused |= matches!(finding, Finding::Brake | Finding::Helps);
            any_off |= !judge.holds(d, 0.0);
            finding
        });
        accusing += u64::from(any_accused);
        missing += u64::from(any_off);
    }
    (accusing, missing)
}

/// Experiments that find the one brake and no other, and whose intervals all hold the truth at the stop.
fn one_brake(experiments: u64) -> (u64, u64) {
    let spec = spec();
    let (plan, judge) = (six_knobs(&spec), Judge::new(&spec, KNOBS));
    let (mut found, mut covered) = (0, 0);
    for seed in 0..experiments {
        let guilty = usize::try_from(seed % KNOBS as u64).unwrap_or(0);
        let mut costs = [0.0; KNOBS];
        costs[guilty] = 0.03;
        let end = experiment(&plan, USUAL, &costs, seed, 60, Leave::Decided, |_, d| judge.quick(d));
        let brakes: Vec<_> = (0..KNOBS).filter(|k| end.findings[*k] == Finding::Brake).collect();
        found += u64::from(brakes == [guilty]);
        let holds = |(d, cost): (&Vec<f64>, &f64)| judge.holds(d, (1.0 - cost).ln());
        covered += u64::from(end.differences.iter().zip(&costs).all(holds));
    }
    (found, covered)
}

/// Checks of eight knobs in two stages: false accusations, power, and trials on a quiet drive.
fn checks(experiments: u64) -> bool {
    const MANY: usize = 8;
    let knobs = knobs(MANY);
    let accused = |e: &&Effect| matches!(e.verdict, Finding::Brake | Finding::Helps);
    let (mut accusing, mut found, mut trials) = (0, 0, 0);
    for seed in 0..experiments {
        let spec = check_spec(seed);
        let null = check(&spec, &knobs, (USUAL, NOISE), &[0.0; MANY], &[], |_| {});
        accusing += u64::from(null.effects.iter().any(|e| accused(&e)));
        let guilty = usize::try_from(seed % MANY as u64).unwrap_or(0);
        let mut costs = [0.0; MANY];
        costs[guilty] = 0.03;
        let one = check(&spec, &knobs, (USUAL, NOISE / 2.0), &costs, &[], |_| {});
        let mut named = one.effects.iter().filter(accused).filter(|e| e.primary).map(|e| e.knob.as_str());
        found += u64::from(named.next() == Some(&knobs[guilty].id) && named.next().is_none());
        trials += one.trials.len();
    }
    let share = |n: u64| 100.0 * n as f64 / experiments as f64;
    println!("check: {MANY} knobs screened, suspects confirmed, up to 60 blocks ({experiments} experiments)");
    let kept = bar("nothing costs: any false brake or helps", share(accusing), "at most 5 %", share(accusing) <= 5.0);
    let good = share(found) >= 90.0;
    let kept = bar("one costs 3 %, noise 1 %: found, no other", share(found), "at least 90 %", good) && kept;
    println!("  trials of the latter on average {:.0}\n", trials as f64 / experiments as f64);
    kept
}

/// Trials on average, share of the knobs left undecided, share with a wrong verdict.
fn verdicts(experiments: u64) -> (f64, f64, f64) {
    let spec = spec();
    let (plan, judge) = (six_knobs(&spec), Judge::new(&spec, KNOBS));
    let (mut trials, mut undecided, mut wrong) = (0, 0, 0);
    for seed in 0..experiments {
        let costs = drawn_costs(seed);
        let end = experiment(&plan, USUAL, &costs, seed, 200, Leave::Decided, |_, d| judge.quick(d));
        trials += end.trials;
        for (finding, cost) in end.findings.iter().zip(&costs) {
            undecided += usize::from(*finding == Finding::Undecided);
            wrong += usize::from(*finding != Finding::Undecided && *finding != right(*cost));
        }
    }
    let knobs = experiments as f64 * KNOBS as f64;
    (trials as f64 / experiments as f64, undecided as f64 / knobs, wrong as f64 / knobs)
}
