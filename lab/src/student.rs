//! Quantiles of Student's t distribution, for intervals from few repetitions.
//!
//! The distribution function is the regularised incomplete beta function (DLMF 8.17, <https://dlmf.nist.gov/8.17>;
//! Abramowitz and Stegun 26.7.1); its inverse is found by bisection, which cannot fail to converge.

/// The `t` for which a variable with `df` degrees of freedom (any number above 0) lies within `-t` and `t` with
/// probability `level` (above 0, below 1). NaN outside these limits.
pub fn two_sided(level: f64, df: f64) -> f64 {
    if !(level > 0.0 && level < 1.0 && df > 0.0) {
        return f64::NAN;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while within(high, df) < level && high < 1e300 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = low + (high - low) / 2.0;
        if within(middle, df) < level { low = middle } else { high = middle }
    }
    high
}

/// Probability of lying within `-t` and `t`.
fn within(t: f64, df: f64) -> f64 {
    let t2 = t * t;
    1.0 - incomplete_beta(df / (df + t2), t2 / (df + t2), df / 2.0, 0.5)
}

/// Regularised incomplete beta function `I_x(a, b)`; `y = 1 - x` is passed to keep its digits when x is near 1.
fn incomplete_beta(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * y.ln()).exp();
    // The fraction converges fast on this side of the mean; the other side is its mirror image (DLMF 8.17.4).
    if x <= (a + 1.0) / (a + b + 2.0) { front * fraction(x, a, b) / a } else { 1.0 - front * fraction(y, b, a) / b }
}

/// Continued fraction of DLMF 8.17.22, evaluated with Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut upper, mut lower) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = lower;
    for pair in 1..10_000 {
        let m = f64::from(pair);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            lower = 1.0 / away_from_zero(1.0 + term * lower);
            upper = away_from_zero(1.0 + term / upper);
            change = upper * lower;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// Logarithm of the gamma function for positive arguments: Lanczos's approximation (SIAM J. Numer. Anal. 1, 1964)
/// with g = 7 and Godfrey's nine coefficients, good to 15 digits.
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        // Reflection keeps the argument where the approximation holds.
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let t = x + 7.5;
    let terms = COEFFICIENTS.iter().enumerate().map(|(i, c)| if i == 0 { *c } else { c / (x + i as f64) });
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + terms.sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tables of the distribution give these to all digits shown.
    #[test]
    fn quantiles_agree_with_the_tables() {
        let table = [
            (0.95, 1.0, 12.7062),
            (0.95, 2.0, 4.302_65),
            (0.95, 3.0, 3.182_45),
            (0.95, 4.0, 2.776_45),
            (0.95, 10.0, 2.228_14),
            (0.95, 30.0, 2.042_27),
            (0.99, 5.0, 4.032_14),
            (0.90, 8.0, 1.859_55),
            (0.95, 1e9, 1.959_96),
        ];
        for (level, df, t) in table {
            let got = two_sided(level, df);
            assert!((got / t - 1.0).abs() < 5e-6, "{level} {df}: {got}, not {t}");
        }
    }

    /// One degree of freedom is Cauchy's distribution, two have a closed form as well.
    #[test]
    fn small_degrees_have_closed_forms() {
        for p in [0.1, 0.5, 0.9, 0.999] {
            let one = (std::f64::consts::FRAC_PI_2 * p).tan();
            let two = p * (2.0 / (1.0 - p * p)).sqrt();
            assert!((two_sided(p, 1.0) / one - 1.0).abs() < 1e-10);
            assert!((two_sided(p, 2.0) / two - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn outside_its_limits_it_is_no_number() {
        assert!(two_sided(1.0, 3.0).is_nan() && two_sided(0.95, 0.0).is_nan() && two_sided(0.95, f64::NAN).is_nan());
    }

    proptest! {
        #[test]
        fn more_degrees_of_freedom_narrow_the_interval(df in 0.5f64..500.0, more in 0.1f64..50.0) {
            prop_assert!(two_sided(0.95, df + more) < two_sided(0.95, df));
        }
    }
}
