//! The ratio of two sets of repetitions.
//!
//! Speeds and latencies vary in proportion to their size, so they are compared on the log scale: the ratio is that of
//! the geometric means, and the interval is Welch's for unequal variances (B. L. Welch, Biometrika 34, 1947, with
//! Satterthwaite's degrees of freedom, Biometrics Bulletin 2, 1946), turned back by the exponential function. It
//! assumes independent repetitions with about log-normal scatter and a fixed number of them; it is not valid for
//! looking again and again until it excludes 1.

use crate::student;

/// Level of the interval.
pub const LEVEL: f64 = 0.95;

/// How many times larger the second set is than the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Geometric mean of the second over that of the first: 1.10 means 10 % more.
    pub ratio: f64,
    /// 95 % interval of the ratio; `None` where a set has fewer than two values, which say nothing of scatter.
    pub interval: Option<(f64, f64)>,
    /// Number of values in the first set.
    pub n_first: usize,
    /// Number of values in the second set.
    pub n_second: usize,
}

impl Comparison {
    /// Whether the interval excludes "no difference". Never without an interval.
    pub fn differs(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

/// Compares two sets of positive values; `None` if one is empty or holds anything else.
pub fn compare(first: &[f64], second: &[f64]) -> Option<Comparison> {
    let (a, b) = (Logs::of(first)?, Logs::of(second)?);
    let difference = b.mean - a.mean;
    let half = a.error2.zip(b.error2).map(|(ea, eb)| {
        let error2 = ea + eb;
        if error2 <= 0.0 {
            return 0.0;
        }
        let df = error2 * error2 / (ea * ea / (a.n as f64 - 1.0) + eb * eb / (b.n as f64 - 1.0));
        student::two_sided(LEVEL, df) * error2.sqrt()
    });
    Some(Comparison {
        ratio: difference.exp(),
        interval: half.map(|h| ((difference - h).exp(), (difference + h).exp())),
        n_first: a.n,
        n_second: b.n,
    })
}

/// Mean of the logarithms and its squared standard error.
struct Logs {
    n: usize,
    mean: f64,
    error2: Option<f64>,
}

impl Logs {
    fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|v| !(v.is_finite() && *v > 0.0)) {
            return None;
        }
        let n = values.len();
        let mean = values.iter().map(|v| v.ln()).sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|v| (v.ln() - mean).powi(2)).sum();
        let error2 = (n > 1).then(|| squares / (n as f64 - 1.0) / n as f64);
        Some(Self { n, mean, error2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    /// Logarithms 0, 1, 2 and 2, 4: difference 2, squared standard errors 1/3 and 1, so (4/3)^2 / (1/18 + 1) = 1.6842
    /// degrees of freedom, whose quantile lies between those of 1 and 2.
    #[test]
    fn a_case_worked_by_hand() {
        let e = std::f64::consts::E;
        let c = compare(&[1.0, e, e * e], &[e * e, e.powi(4)]).unwrap();
        assert!(close(c.ratio, e * e));
        let (low, high) = c.interval.unwrap();
        let t = student::two_sided(0.95, 1.684_210_526_315_789);
        assert!(close(high.ln() - 2.0, t * (4.0f64 / 3.0).sqrt()) && close(2.0 - low.ln(), t * (4.0f64 / 3.0).sqrt()));
        assert!(t > 4.302_65 && t < 12.7062, "{t}");
        assert!(!c.differs());
    }

    #[test]
    fn one_value_gives_a_ratio_without_an_interval() {
        let c = compare(&[100.0], &[110.0, 110.0]).unwrap();
        assert!(close(c.ratio, 1.1) && c.interval.is_none() && !c.differs());
        assert_eq!((c.n_first, c.n_second), (1, 2));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        for bad in [vec![], vec![0.0], vec![1.0, -1.0], vec![f64::NAN], vec![f64::INFINITY]] {
            assert_eq!(compare(&bad, &[1.0]), None);
            assert_eq!(compare(&[1.0], &bad), None);
        }
    }

    #[test]
    fn values_without_scatter_give_an_interval_without_width() {
        let c = compare(&[5.0, 5.0], &[10.0, 10.0]).unwrap();
        assert!(c.differs() && c.interval.is_some_and(|(low, high)| close(low, 2.0) && close(high, 2.0)));
    }

    /// Of 2000 simulated comparisons of equal sets, the interval must miss the truth in about 5 %.
    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut uniform = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        let mut noisy = |scatter: f64| {
            let normal = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
            1000.0 * (scatter * normal).exp()
        };
        let misses = (0..2000)
            .filter(|_| {
                let first: Vec<f64> = (0..5).map(|_| noisy(0.03)).collect();
                let second: Vec<f64> = (0..8).map(|_| noisy(0.01)).collect();
                compare(&first, &second).is_some_and(|c| c.differs())
            })
            .count();
        // Binomial with p = 0.05: five standard deviations are 49.
        assert!((51..=149).contains(&misses), "{misses} of 2000 missed");
    }

    proptest! {
        #[test]
        fn swapping_the_sets_inverts_the_ratio(
            a in prop::collection::vec(0.1f64..1e9, 2..12), b in prop::collection::vec(0.1f64..1e9, 2..12),
        ) {
            let (there, back) = (compare(&a, &b).unwrap(), compare(&b, &a).unwrap());
            prop_assert!(close(there.ratio * back.ratio, 1.0));
            let ((low, high), (low_back, high_back)) = (there.interval.unwrap(), back.interval.unwrap());
            prop_assert!(low <= there.ratio * (1.0 + 1e-9) && there.ratio <= high * (1.0 + 1e-9));
            prop_assert!((low.ln() + high_back.ln()).abs() < 1e-6 * (1.0 + low.ln().abs()));
            prop_assert!((high.ln() + low_back.ln()).abs() < 1e-6 * (1.0 + high.ln().abs()));
        }

        #[test]
        fn units_do_not_matter(
            a in prop::collection::vec(1f64..1e6, 2..12), b in prop::collection::vec(1f64..1e6, 2..12), unit in 1e-6f64..1e6,
        ) {
            let scaled = |v: &[f64]| v.iter().map(|x| x * unit).collect::<Vec<_>>();
            let (plain, other) = (compare(&a, &b).unwrap(), compare(&scaled(&a), &scaled(&b)).unwrap());
            prop_assert!(close(plain.ratio, other.ratio));
            let ((low, high), (low2, high2)) = (plain.interval.unwrap(), other.interval.unwrap());
            prop_assert!((low.ln() - low2.ln()).abs() < 1e-6 && (high.ln() - high2.ln()).abs() < 1e-6);
        }
    }
}
