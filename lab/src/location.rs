//! Where differences are centred: the estimator of Hodges and Lehmann (Annals of Mathematical Statistics 34, 1963), the
//! median of the means of all pairs. Nearly as sharp as the mean for normal noise (95 %), and unmoved by outliers as
//! long as they are less than 29 %.

/// The pseudo-median; `None` of nothing, or where a value is not finite.
pub fn pseudo_median(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let pairs = sorted.len() * (sorted.len() + 1) / 2;
    let (low, high) = (ranked(&sorted, (pairs - 1) / 2), ranked(&sorted, pairs / 2));
    Some(f64::midpoint(low, high))
}

/// The mean of a pair that has exactly `rank` others below it, found by bisection over the value: the pairs need not be
/// listed.
fn ranked(sorted: &[f64], rank: usize) -> f64 {
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else { return f64::NAN };
    let (mut low, mut high) = (first, last);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if up_to(sorted, middle) > rank { high = middle } else { low = middle }
    }
    if up_to(sorted, low) > rank { low } else { high }
}

/// Pairs, each value with itself included, whose mean is at most `limit`.
fn up_to(sorted: &[f64], limit: f64) -> usize {
    let mut end = sorted.len();
    let mut count = 0;
    for (start, a) in sorted.iter().enumerate() {
        // The partner of a larger value is smaller.
        while end > start && sorted.get(end - 1).is_some_and(|b| f64::midpoint(*a, *b) > limit) {
            end -= 1;
        }
        count += end.saturating_sub(start);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_sets() {
        assert_eq!(pseudo_median(&[]), None);
        assert_eq!(pseudo_median(&[f64::NAN]), None);
        assert_eq!(pseudo_median(&[3.0]), Some(3.0));
        assert_eq!(pseudo_median(&[1.0, 2.0]), Some(1.5));
        // Means of pairs: 0, 0.5, 1, 5, 5.5, 10.
        assert!((pseudo_median(&[0.0, 10.0, 1.0]).unwrap() - 3.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn it_is_the_median_of_the_means_of_pairs(values in prop::collection::vec(-10.0f64..10.0, 1..30)) {
            let mut means = Vec::new();
            for (i, a) in values.iter().enumerate() {
                means.extend(values.iter().skip(i).map(|b| f64::midpoint(*a, *b)));
            }
            means.sort_by(f64::total_cmp);
            let median = f64::midpoint(means[(means.len() - 1) / 2], means[means.len() / 2]);
            prop_assert!((pseudo_median(&values).unwrap() - median).abs() < 1e-9);
        }
    }
}
