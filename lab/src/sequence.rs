//! Intervals that hold at every look, from nothing but the random order within blocks.
//!
//! # What is assumed
//!
//! Each block runs its configurations once, in an order drawn for that block alone. Whatever the noise of the block is
//! (drift, memory from trial to trial, outliers, any distribution), the draw decides which configuration meets which
//! part of it. So the difference of two configurations, less its true value, is as likely positive as negative, block
//! by block, given everything before. This is Fisher's randomisation argument (The Design of Experiments, 1935); it
//! needs neither independence nor a normal distribution, and it holds from the first block: there is no small-sample
//! correction to make. What it does need: an effect that multiplies whatever it meets (a constant on the log scale; if
//! the effect itself varies, the interval is about its pseudo-median), an order that no trial changes (repeating void
//! trials at the end of their block strains this a little), and settings that leave no trace in the trials after them
//! (hence the settle times).
//!
//! # The evidence
//!
//! For a supposed value `v` and a rate `r`, each block's difference `d` multiplies the evidence that the truth is above
//! `v` by `2 / (1 + exp(-2 y))`, with `y = r (d - v)` clipped to plus or minus `c`. If `v` is true, `y` and `-y` are
//! equally likely, and the two factors average to exactly 1: the product is a martingale of mean 1, as is a fixed
//! mixture of several rates. By Ville's inequality (1939) it ever reaches `1 / a` with probability at most `a`, however
//! often it is looked at. This is de la Peña's inequality for symmetric variables (Annals of Probability 27, 1999) in
//! its sharp form, used as Howard, Ramdas, McAuliffe and Sekhon do (Annals of Statistics 49, 2021). The interval is
//! every value against which the evidence, on either side, stays below `2 / alpha`.
//!
//! Clipping is what makes it robust: a trial three times slower counts as little as one a bit too slow.
//!
//! # The rates
//!
//! A rate is best for one ratio of distance and noise. Where a decision falls, the distance is about the threshold `t`,
//! and the budget of blocks bounds the noise; so the rates are multiples of `1 / t`, chosen before the first block and
//! weighted towards noise of a few percent. Each clips at 1.7 standard deviations of the noise that it is best for
//! (`c = 1.7 sqrt(r t)`), near Huber's usual 1.5.
//!
//! # Why not another
//!
//! `make simulate` runs three others on the same trials: the asymptotic confidence sequence of Waudby-Smith, Arbour,
//! Sinha, Kennedy and Ramdas (Annals of Statistics 52, 2024), the t confidence sequence of Wang and Ramdas (2023), and
//! repeated intervals of a group-sequential design with spending after Lan and DeMets (Biometrika 70, 1983), each on
//! Huber's estimate. With 5 % allowed, the first is off the truth at some look in 22 % of the experiments and the last in
//! 6 %, since their variance is estimated from a handful of blocks at first; with the plain mean, outliers leave a third
//! of the knobs undecided. The t sequence holds (2.6 %) and needs as many trials as this one, but rests on a normal
//! distribution, which latencies do not have. This one: 2.0 %, whatever the distribution.

/// Rates as multiples of `1 / threshold`, with their weights. The slowest is best for noise that takes some 300 blocks, the
/// fastest for a drive so quiet that the least possible number is enough.
const RATES: [(f64, f64); 8] =
    [(0.05, 1.0), (0.1, 3.0), (0.2, 4.0), (0.4, 3.0), (0.8, 2.0), (1.6, 2.0), (3.2, 1.0), (6.4, 1.0)];
/// Clip in standard deviations of the noise that a rate is best for.
const CLIP: f64 = 1.7;

/// Evidence about where differences are centred, tuned to a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Rate, clip, and logarithm of the weight.
    parts: [(f64, f64, f64); RATES.len()],
    /// Distance beyond which every part is clipped.
    reach: f64,
}

impl Evidence {
    /// Tuned to decide about `threshold`, which is above 0 and in the unit of the differences.
    pub fn about(threshold: f64) -> Self {
        let total: f64 = RATES.iter().map(|(_, weight)| weight).sum();
        let parts =
            RATES.map(|(multiple, weight)| (multiple / threshold, CLIP * multiple.sqrt(), (weight / total).ln()));
        let reach = parts.iter().map(|(rate, clip, _)| clip / rate).fold(0.0, f64::max);
        Self { parts, reach }
    }

    /// Logarithm of the evidence that the differences are centred above `value`. 0 is none; the interval at level
    /// `1 - alpha` leaves a value out at `ln(2 / alpha)`.
    pub fn above(&self, differences: &[f64], value: f64) -> f64 {
        self.directed(differences, value, 1.0)
    }

    /// The same for "below".
    pub fn below(&self, differences: &[f64], value: f64) -> f64 {
        self.directed(differences, value, -1.0)
    }

    fn directed(&self, differences: &[f64], value: f64, sign: f64) -> f64 {
        let logs = self.parts.map(|(rate, clip, weight)| {
            let factor = |d: &f64| 2.0 / (1.0 + (-2.0 * (sign * rate * (d - value)).clamp(-clip, clip)).exp());
            // Products of 32 neither vanish nor overflow, and one logarithm serves them all.
            weight + differences.chunks(32).map(|c| c.iter().map(factor).product::<f64>().ln()).sum::<f64>()
        });
        let most = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
        most + logs.iter().map(|l| (l - most).exp()).sum::<f64>().ln()
    }

    /// The interval at level `1 - alpha` (`alpha` above 0, below 1); `None` while there are too few differences to leave
    /// anything out.
    pub fn interval(&self, differences: &[f64], alpha: f64) -> Option<(f64, f64)> {
        let least = differences.iter().copied().reduce(f64::min)? - self.reach;
        let most = differences.iter().copied().reduce(f64::max)? + self.reach;
        let enough = (2.0 / alpha).ln();
        // Below `least` the evidence does not grow any more.
        if !(least.is_finite() && most.is_finite()) || self.above(differences, least) < enough {
            return None;
        }
        let low = bisect(least, most, |v| self.above(differences, v) < enough);
        let high = -bisect(-most, -least, |v| self.below(differences, -v) < enough);
        Some((low, high))
    }
}

/// The largest value known to be left out, where `inside` is false at `low` and true at `high`.
fn bisect(mut low: f64, mut high: f64, inside: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if inside(middle) { high = middle } else { low = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Both signs of each difference average to the evidence before it: nothing is gained when nothing is there.
    #[test]
    fn evidence_is_fair_if_there_is_nothing() {
        let evidence = Evidence::about(0.01);
        let sizes = [0.001, 0.02, 0.3, 0.0, 0.005, 0.011];
        let mut total = 0.0;
        for signs in 0..1 << sizes.len() {
            let flip = |(i, s): (usize, &f64)| if signs >> i & 1 == 1 { -s } else { *s };
            let d: Vec<f64> = sizes.iter().enumerate().map(flip).collect();
            total += evidence.above(&d, 0.0).exp();
        }
        assert!((total / f64::from(1 << sizes.len()) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn few_differences_leave_nothing_out() {
        let evidence = Evidence::about(0.01);
        assert_eq!(evidence.interval(&[], 0.05), None);
        assert_eq!(evidence.interval(&[0.5; 4], 0.05), None);
        let (low, high) = evidence.interval(&[0.5; 12], 0.05).unwrap();
        assert!(low < 0.5 && high > 0.5 && high - low < 0.02, "{low} {high}");
        assert_eq!(evidence.interval(&[f64::MAX, f64::INFINITY], 0.05), None);
    }

    #[test]
    fn an_outlier_moves_the_interval_little() {
        let quiet: Vec<f64> = (0..40).map(|i| 0.02 * f64::from(i % 5 - 2)).collect();
        let mut loud = quiet.clone();
        loud.extend([3.0f64.ln(), -3.0f64.ln()]);
        let evidence = Evidence::about(0.01);
        let (a, b) = (evidence.interval(&quiet, 0.01).unwrap(), evidence.interval(&loud, 0.01).unwrap());
        assert!((a.0 - b.0).abs() < 0.01 && (a.1 - b.1).abs() < 0.01, "{a:?} {b:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn neither_order_nor_direction_nor_origin_matters(
            mut d in prop::collection::vec(-0.2f64..0.2, 12..60), shift in -1.0f64..1.0
        ) {
            let evidence = Evidence::about(0.01);
            let (low, high) = evidence.interval(&d, 0.01).unwrap();
            let near = |x: f64, y: f64| (x - y).abs() < 1e-9;
            let moved: Vec<f64> = d.iter().map(|x| x + shift).collect();
            let m = evidence.interval(&moved, 0.01).unwrap();
            prop_assert!(near(m.0, low + shift) && near(m.1, high + shift));
            d.reverse();
            let half = d.len() / 2;
            d.rotate_left(half);
            for x in &mut d {
                *x = -*x;
            }
            let f = evidence.interval(&d, 0.01).unwrap();
            prop_assert!(near(f.0, -high) && near(f.1, -low));
        }

        #[test]
        fn more_confidence_is_wider(d in prop::collection::vec(-0.2f64..0.2, 14..60)) {
            let evidence = Evidence::about(0.01);
            let (wide, narrow) = (evidence.interval(&d, 0.001).unwrap(), evidence.interval(&d, 0.05).unwrap());
            prop_assert!(wide.0 <= narrow.0 && wide.1 >= narrow.1);
        }
    }
}
