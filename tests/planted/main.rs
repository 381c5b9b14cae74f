//! `make planted`: is a cost that is known to be there found, on the right knob, at its right size, and no other?
//!
//! A recorded laptop, an ext4 filesystem on a loop device, and a control group's limit of reads that follows one of six
//! knobs: 10 %, then 5 %. The whole program runs each experiment; the knob with the cost is another one each time.
//! `check` has a check of eight knobs find one that costs 10 % of a drive whose reads all take the same time, and says
//! how long that took.
//! Needs root. `BRAKECHECK_BIN` names the program under test.

mod knobs;
mod round;

use anyhow::{Context, Result, bail, ensure};
use knobs::{KNOBS, Knob, MORE};
use std::process::ExitCode;
use std::time::Duration;
use tests::{Judged, Planted, judge};

/// Time in which a check of eight knobs is to have its verdict, on a quiet machine.
const CHECK_WITHIN: Duration = Duration::from_mins(10);

/// What to plant, and how often.
struct Plan {
    percents: Vec<u32>,
    rounds: usize,
}

fn plan() -> Result<Plan> {
    let mut plan = Plan { percents: Vec::new(), rounds: 10 };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => {
                let number = arguments.next().context("--rounds wants a number")?;
                plan.rounds = number.parse().with_context(|| number.clone())?;
            }
            "0" | "5" | "10" | "20" | "25" | "50" => plan.percents.push(argument.parse()?),
            _ => {
                bail!(
                    "planted check, or [--rounds NUMBER] [PERCENT]...: costs of 0, 5, 10, 20, 25, 50 percent; 10 and 5 if none"
                )
            }
        }
    }
    if plan.percents.is_empty() {
        plan.percents = vec![10, 5];
    }
    Ok(plan)
}

fn main() -> Result<ExitCode> {
    if std::env::args().skip(1).eq(["check".to_owned()]) {
        return check();
    }
    let plan = plan()?;
    let mut all = true;
    for percent in plan.percents {
        println!("== a cost of {percent} % on one of {} knobs", KNOBS.len());
        let mut right = 0;
        for (round, knob) in KNOBS.iter().cycle().take(plan.rounds).enumerate() {
            right += usize::from(one(round + 1, knob, percent)?);
        }
        println!("-- {percent} %: {right} of {} right\n", plan.rounds);
        all &= right == plan.rounds;
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A check of eight knobs, one of which costs 10 % of whatever the drive is busy with.
fn check() -> Result<ExitCode> {
    let [planted, ..] = &KNOBS;
    let knobs: Vec<&str> = KNOBS.iter().map(|k| k.id).chain(MORE).collect();
    let Some(found) = round::check(&knobs, planted, 10)? else { bail!("no cost can be planted here") };
    let judged = judge(&found.report, &[Planted { knob: planted.id, percent: None }]);
    for effect in found.report.effects.iter().filter(|e| e.primary) {
        println!("{}", effect.sentence);
    }
    println!("\n{}", found.report.headline);
    let ((trials, void), seconds) = (judged.trials, found.took.as_secs_f64());
    let verdict = if !judged.wrong.is_empty() {
        format!("WRONG: {}", judged.wrong.join("; "))
    } else if found.took > CHECK_WITHIN {
        format!("right, but LATE: {} s were allowed", CHECK_WITHIN.as_secs())
    } else {
        "right".into()
    };
    println!(
        "-- {} knobs: {seconds:.0} s, {trials} trials, {void} void; others: {}: {verdict}",
        knobs.len(),
        others(&judged)
    );
    Ok(if verdict == "right" { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether an experiment found the truth.
fn one(round: usize, knob: &Knob, percent: u32) -> Result<bool> {
    let Some(found) = round::run(knob, percent)? else { bail!("no cost can be planted here") };
    let truth = Planted { knob: knob.id, percent: Some(-f64::from(percent)) };
    let judged = judge(&found.report, if percent == 0 { &[] } else { std::slice::from_ref(&truth) });
    ensure!(!judged.planted.is_empty() || percent == 0, "{} was not in the experiment", knob.id);
    let others = others(&judged);
    let (trials, void) = judged.trials;
    println!(
        "{round:>2}  {:<66}  others: {:<10} {:>3} blocks {trials:>4} trials {void:>2} void {:>5.0} s  {}",
        judged.planted.join("; "),
        others,
        judged.blocks,
        found.took.as_secs_f64(),
        if judged.wrong.is_empty() { "right".into() } else { format!("WRONG: {}", judged.wrong.join("; ")) }
    );
    Ok(judged.wrong.is_empty())
}

/// What was found of the knobs without a cost.
fn others(judged: &Judged) -> String {
    let counts: Vec<String> = judged.others.iter().map(|(verdict, n)| format!("{n} {verdict}")).collect();
    counts.join(", ")
}
