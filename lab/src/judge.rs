//! From the differences of blocks to an effect with its interval and what is concluded of it.

use crate::location::pseudo_median;
use crate::sequence::Evidence;
use protocol::experiment::{ExperimentSpec, Finding};

/// What is known of one effect, on the log scale: the logarithm of a ratio of performances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// The effect; `None` before the first block.
    pub estimate: Option<f64>,
    /// Its interval, simultaneous over the family; `None` while there are too few blocks.
    pub interval: Option<(f64, f64)>,
    /// What is concluded.
    pub finding: Finding,
    /// Whether more blocks would bring nothing that was asked for.
    pub settled: bool,
    /// Blocks it rests on.
    pub blocks: usize,
    /// Blocks still missing, about, if not settled and if it can be said; at least so many, while there is no interval.
    pub more_blocks: Option<u32>,
}

/// The rules by which all effects of one family are judged.
///
/// The family is every comparison times every workload of an experiment. Its intervals hold together with the
/// confidence asked for (Bonferroni: each alone is allowed an equal share of the error). A step-down as Holm's would gain
/// nothing here: it may relax only once hypotheses are known to be false, and of the three statements *brake*, *free*
/// and *helps* exactly one is true of each knob, so that none ever leaves the count.
#[derive(Debug, Clone, PartialEq)]
pub struct Judge {
    evidence: Evidence,
    /// The threshold on the log scale. The same distance counts on both sides, so that exchanging the two
    /// configurations turns a brake into a help: 1 % is -1.00 % and +1.01 %.
    threshold: f64,
    /// Half width asked for, on the log scale.
    precision: Option<f64>,
    /// Error allowed to each interval.
    alpha: f64,
    min_blocks: usize,
}

impl Judge {
    /// For a family of so many effects. The spec has been validated.
    pub fn new(spec: &ExperimentSpec, family: usize) -> Self {
        Self::sharing(spec, 1.0, family)
    }

    /// As [`Self::new`], for one of several families that together are allowed the error: this one a share of it, above
    /// 0 and at most 1.
    pub fn sharing(spec: &ExperimentSpec, share: f64, family: usize) -> Self {
        let threshold = -(-spec.threshold_percent / 100.0).ln_1p();
        let precision = spec.precision_percent.map(|p| (p / 100.0).ln_1p());
        Self {
            // A precision below the threshold is where decisions fall then.
            evidence: Evidence::about(precision.map_or(threshold, |p| p.min(threshold))),
            threshold,
            precision,
            alpha: share * (1.0 - spec.confidence) / family.max(1) as f64,
            min_blocks: spec.min_blocks as usize,
        }
    }

    /// The threshold on the log scale, above 0.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Judges an effect by its differences, one a block, in any order.
    pub fn judge(&self, differences: &[f64]) -> Judgement {
        let blocks = differences.len();
        let interval = self.evidence.interval(differences, self.alpha);
        let estimate = pseudo_median(differences).map(|e| interval.map_or(e, |(low, high)| e.clamp(low, high)));
        let finding = match interval {
            Some(interval) if blocks >= self.min_blocks => self.finding(interval),
            _ => Finding::Undecided,
        };
        let settled = blocks >= self.min_blocks
            && match (self.precision, interval) {
                (None, _) => finding != Finding::Undecided,
                (Some(precision), Some((low, high))) => high - low <= 2.0 * precision,
                (Some(_), None) => false,
            };
        let more_blocks = if settled { None } else { self.missing(blocks, estimate, interval) };
        Judgement { estimate, interval, finding, settled, blocks, more_blocks }
    }

    /// Whether more blocks would bring nothing that was asked for; faster than [`Self::judge`] where no width is asked
    /// for.
    pub fn is_settled(&self, differences: &[f64]) -> bool {
        match self.precision {
            None => self.quick(differences) != Finding::Undecided,
            Some(_) => self.judge(differences).settled,
        }
    }

    /// The same finding as [`Self::judge`]'s, without working out the interval.
    pub fn quick(&self, differences: &[f64]) -> Finding {
        let enough = (2.0 / self.alpha).ln();
        if differences.len() < self.min_blocks {
            return Finding::Undecided;
        }
        let above = |v: f64| self.evidence.above(differences, v) >= enough;
        let below = |v: f64| self.evidence.below(differences, v) >= enough;
        let t = self.threshold;
        if below(-t) {
            Finding::Brake
        } else if above(t) {
            Finding::Helps
        } else if above(-t) && below(t) {
            Finding::Free
        } else {
            Finding::Undecided
        }
    }

    /// The blocks without which nothing can be concluded, however clear the differences are.
    pub fn least_blocks(&self) -> usize {
        let enough = (2.0 / self.alpha).ln();
        // The same difference in every block is the clearest there is.
        let clear = |n: &usize| self.evidence.above(&vec![1.0; *n], f64::NEG_INFINITY) >= enough;
        (1..1000).find(clear).unwrap_or(1000).max(self.min_blocks)
    }

    /// Whether a value, a log ratio, lies in the interval; the whole line is one while there are too few differences.
    pub fn holds(&self, differences: &[f64], value: f64) -> bool {
        let enough = (2.0 / self.alpha).ln();
        self.evidence.above(differences, value) < enough && self.evidence.below(differences, value) < enough
    }

    fn finding(&self, (low, high): (f64, f64)) -> Finding {
        let t = self.threshold;
        if high < -t {
            Finding::Brake
        } else if low > t {
            Finding::Helps
        } else if low > -t && high < t {
            Finding::Free
        } else {
            Finding::Undecided
        }
    }

    /// Intervals shrink with the square root of the number of blocks; the gap to close is the distance of the estimate
    /// from the threshold.
    fn missing(&self, blocks: usize, estimate: Option<f64>, interval: Option<(f64, f64)>) -> Option<u32> {
        let Some((low, high)) = interval else {
            let least = self.least_blocks().saturating_sub(blocks).max(1);
            return u32::try_from(least).ok();
        };
        let estimate = estimate?;
        let half = (high - low) / 2.0;
        let gap = self.precision.unwrap_or((estimate.abs() - self.threshold).abs());
        let needed = blocks as f64 * (half / gap).powi(2);
        let more = (needed - blocks as f64).ceil().max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 100,000, checked here")]
        (more <= 100_000.0).then_some(more as u32)
    }
}

/// A log ratio as a change in percent.
pub fn percent(log_ratio: f64) -> f64 {
    100.0 * log_ratio.exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use protocol::experiment::Design;

    fn judge(family: usize) -> Judge {
        Judge::new(&ExperimentSpec::new(Design::OneAtATime, "/"), family)
    }

    /// Differences around a cost in percent, up to 1 % off.
    fn around(cost: f64, n: i32) -> Vec<f64> {
        (0..n).map(|i| (-cost / 100.0).ln_1p() + 0.005 * f64::from(i % 5 - 2)).collect()
    }

    #[test]
    fn the_interval_decides() {
        for (cost, finding) in [(10.0, Finding::Brake), (0.0, Finding::Free), (-10.0, Finding::Helps)] {
            let j = judge(6).judge(&around(cost, 40));
            assert_eq!((j.finding, j.settled, j.more_blocks), (finding, true, None), "{j:?}");
            assert!((percent(j.estimate.unwrap()) + cost).abs() < 0.2);
        }
        let j = judge(6).judge(&around(1.0, 40));
        assert_eq!((j.finding, j.settled), (Finding::Undecided, false));
    }

    #[test]
    fn nothing_is_concluded_of_too_few_blocks() {
        for n in [0, 1, 5] {
            let j = judge(1).judge(&around(50.0, n));
            assert_eq!((j.finding, j.settled, j.estimate.is_some()), (Finding::Undecided, false, n > 0));
        }
        let least = judge(6).least_blocks();
        assert!((8..16).contains(&least), "{least}");
        assert!(least < judge(60).least_blocks());
        assert_eq!(judge(6).judge(&vec![-1.0; least - 1]).more_blocks, Some(1));
        assert_eq!(judge(6).judge(&vec![-1.0; least]).finding, Finding::Brake);
    }

    #[test]
    fn the_missing_blocks_are_about_right() {
        let first = judge(6).judge(&around(1.6, 12));
        assert_eq!(first.finding, Finding::Undecided, "{first:?}");
        let more = i32::try_from(first.more_blocks.unwrap()).unwrap();
        assert!(judge(6).judge(&around(1.6, 12 + 2 * more)).settled, "{more}");
    }

    #[test]
    fn a_precision_is_pursued_beyond_the_verdict() {
        let spec = ExperimentSpec { precision_percent: Some(0.3), ..ExperimentSpec::new(Design::Ab, "/") };
        let j = Judge::new(&spec, 1).judge(&around(10.0, 20));
        assert_eq!((j.finding, j.settled), (Finding::Brake, false));
        let j = Judge::new(&spec, 1).judge(&around(10.0, 400));
        assert!(j.settled, "{j:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_quick_way_agrees_and_swapping_flips(d in prop::collection::vec(-0.05f64..0.03, 0..80), family in 1usize..20) {
            let judge = judge(family);
            let (one, flipped) = (judge.judge(&d), judge.judge(&d.iter().map(|x| -x).collect::<Vec<_>>()));
            prop_assert_eq!(one.finding, judge.quick(&d));
            let swapped = match one.finding {
                Finding::Brake => Finding::Helps,
                Finding::Helps => Finding::Brake,
                same => same,
            };
            prop_assert_eq!(flipped.finding, swapped);
            if let (Some(a), Some(b)) = (one.interval, flipped.interval) {
                prop_assert!((a.0 + b.1).abs() < 1e-9 && (a.1 + b.0).abs() < 1e-9);
            }
        }
    }
}
