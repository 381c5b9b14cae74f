//! What an experiment found, against what is known to be true.

use protocol::experiment::{Effect, ExperimentReport, Finding};

/// How far an experiment is from the truth.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What is wrong, each in words; nothing if all is as it should be.
    pub wrong: Vec<String>,
    /// The planted effects, each as `knob: estimate (interval) verdict`.
    pub planted: Vec<String>,
    /// Verdicts on the others, by their number.
    pub others: Vec<(Finding, usize)>,
    /// Blocks of the longest comparison.
    pub blocks: u32,
    /// Trials that count, and that do not.
    pub trials: (usize, usize),
}

/// A true effect.
#[derive(Debug, Clone, Copy)]
pub struct Planted<'a> {
    /// The knob.
    pub knob: &'a str,
    /// Its effect in percent, if it is known so exactly that the interval must hold it.
    pub percent: Option<f64>,
}

/// Judges a report: each planted knob must be a brake and its interval hold the truth; no other may be accused of, or
/// praised for, anything. A knob counts as accused if it is in any workload.
pub fn judge(report: &ExperimentReport, planted: &[Planted<'_>]) -> Judged {
    let primary: Vec<&Effect> = report.effects.iter().filter(|e| e.primary).collect();
    let mut wrong = Vec::new();
    for truth in planted {
        let here = || primary.iter().filter(|e| e.knob == truth.knob);
        if !here().any(|e| e.verdict == Finding::Brake) {
            wrong.push(format!("{} is not found", truth.knob));
        }
        for (effect, percent) in here().filter_map(|e| Some((e, truth.percent?))) {
            let interval = effect.low_percent.zip(effect.high_percent);
            if !interval.is_some_and(|(low, high)| (low..=high).contains(&percent)) {
                wrong.push(format!("{} does not hold {percent} %", said(effect)));
            }
        }
    }
    let is_planted = |e: &&&Effect| planted.iter().any(|p| p.knob == e.knob);
    let (yes, no): (Vec<&Effect>, Vec<&Effect>) = primary.iter().partition(is_planted);
    let accused = no.iter().filter(|e| matches!(e.verdict, Finding::Brake | Finding::Helps));
    wrong.extend(accused.map(|e| format!("{} is wrong", said(e))));
    let all = [Finding::Brake, Finding::Helps, Finding::Free, Finding::Undecided];
    let number = |verdict| no.iter().filter(|e| e.verdict == verdict).count();
    let void = report.void.len();
    Judged {
        wrong,
        planted: yes.into_iter().map(said).collect(),
        others: all.into_iter().map(|v| (v, number(v))).filter(|(_, n)| *n > 0).collect(),
        blocks: primary.iter().map(|e| e.blocks).max().unwrap_or(0),
        trials: (report.trials.len() - void, void),
    }
}

/// `cpu.turbo: -10.0 % (-10.8 to -9.2) brake`.
fn said(effect: &Effect) -> String {
    let number = |n: Option<f64>| n.map_or("-".into(), |n| format!("{n:.2}"));
    let [estimate, low, high] = [effect.estimate_percent, effect.low_percent, effect.high_percent].map(number);
    format!("{}: {estimate} % ({low} to {high}) {}", effect.knob, effect.verdict)
}
