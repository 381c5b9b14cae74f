//! All combinations of up to five knobs; above, the fraction that still keeps every knob clear of pairs.
//!
//! The fractions have resolution IV (Box and Hunter, Technometrics 3, 1961): each further knob follows the product of
//! an odd number of basic ones, so no knob's column is the product of two others'. Pairs may share a column with other
//! pairs; such pairs are reported together. 16 runs carry 8 knobs, 32 carry 16, 64 carry 32.

use super::factor::{configuration, factors};
use super::plan::{Contrast, Joint, Plan, PlanError};
use protocol::experiment::ExperimentSpec;
use protocol::knob::Knob;
use std::collections::BTreeMap;

/// Knobs that are combined in full.
const FULL: usize = 5;
/// Knobs that 64 runs can carry.
const MOST: usize = 32;

pub(super) fn plan(spec: &ExperimentSpec, knobs: &[Knob]) -> Result<Plan, PlanError> {
    let (factors, unmapped) = factors(spec, knobs)?;
    if factors.len() > MOST {
        let reason = format!("{} knobs; name at most {MOST} in `knobs`", factors.len());
        return Err(PlanError::Nothing { design: spec.design, reason });
    }
    let words = words(factors.len());
    let runs = 1u32 << basic(factors.len());
    let mut plan = Plan { unmapped, ..Plan::default() };
    for run in 0..runs {
        let saves = |i: usize| words.get(i).is_some_and(|w| sign(run, *w) > 0.0);
        let on: Vec<_> = factors.iter().enumerate().filter(|(i, _)| saves(*i)).map(|(_, f)| f.id.as_str()).collect();
        let name = if on.is_empty() { "all-performance".into() } else { format!("saving: {}", on.join(", ")) };
        plan.configurations.push(configuration(name, &factors, |i, _| saves(i)));
    }
    let column = |word: u32, scale: f64| -> Vec<(usize, f64)> {
        (0..runs).map(|run| (run as usize, scale * sign(run, word) / f64::from(runs))).collect()
    };
    for (f, word) in factors.iter().zip(&words) {
        plan.contrasts.push(Contrast {
            knob: f.id.clone(),
            from: f.performance.clone(),
            to: f.saving.clone(),
            base: None,
            stage: None,
            weights: column(*word, 2.0),
        });
    }
    // Pairs whose products are the same column cannot be told apart.
    let mut pairs: BTreeMap<u32, Vec<[String; 2]>> = BTreeMap::new();
    for (i, (a, x)) in factors.iter().zip(&words).enumerate() {
        for (b, y) in factors.iter().zip(&words).skip(i + 1) {
            pairs.entry(x ^ y).or_default().push([a.id.clone(), b.id.clone()]);
        }
    }
    plan.joints = pairs.into_iter().map(|(word, knobs)| Joint { knobs, weights: product(word, runs) }).collect();
    Ok(plan)
}

/// Number of basic knobs, whose combinations are all run.
fn basic(knobs: usize) -> usize {
    match knobs {
        0..=FULL => knobs,
        6..=8 => 4,
        9..=16 => 5,
        _ => 6,
    }
}

/// For each knob the basic ones that its column is the product of, as bits.
fn words(knobs: usize) -> Vec<u32> {
    let basic = basic(knobs);
    let mut odd: Vec<u32> = (1..1u32 << basic).filter(|w| w.count_ones() % 2 == 1).collect();
    odd.sort_by_key(|w| (w.count_ones(), *w));
    odd.truncate(knobs);
    odd
}

/// +1 where the knob saves: where an odd number of its basic knobs does.
fn sign(run: u32, word: u32) -> f64 {
    if (run & word).count_ones() % 2 == 1 { 1.0 } else { -1.0 }
}

/// Weights of (both) - (first only) - (second only) + (neither), averaged over the rest. The product of two knobs' signs
/// is +1 where they are equal, that is where an even number of the basic knobs in just one of the words saves.
fn product(word: u32, runs: u32) -> Vec<(usize, f64)> {
    (0..runs).map(|run| (run as usize, -4.0 * sign(run, word) / f64::from(runs))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_knob_shares_a_column_with_a_pair() {
        for knobs in 1..=MOST {
            let words = words(knobs);
            assert_eq!(words.len(), knobs);
            for (i, x) in words.iter().enumerate() {
                for y in words.iter().skip(i + 1) {
                    assert!(x != y && !words.contains(&(x ^ y)), "{knobs}");
                }
            }
        }
    }

    #[test]
    fn a_product_is_plus_where_both_are_equal() {
        let words = words(8);
        for run in 0..16 {
            let by_hand = sign(run, words[1]) * sign(run, words[6]);
            assert!((product(words[1] ^ words[6], 16)[run as usize].1 - by_hand * 0.25).abs() < 1e-12);
        }
    }
}
