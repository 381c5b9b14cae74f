//! What a set of repetitions looks like.

/// Five numbers about some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many.
    pub n: usize,
    /// Smallest.
    pub min: f64,
    /// Middle one; of an even number the mean of the two in the middle.
    pub median: f64,
    /// Largest.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
}

impl Summary {
    /// Summarises the values; `None` if there are none or one of them is no finite number.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let (low, high) = (*sorted.get((n - 1) / 2)?, *sorted.get(n / 2)?);
        // Halves first, so that two huge values do not overflow.
        let median = if low < high { low / 2.0 + high / 2.0 } else { low };
        let mean = sorted.iter().map(|v| v / n as f64).sum::<f64>().clamp(min, max);
        Some(Self { n, min, median, max, mean })
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;
    use proptest::prelude::*;

    #[test]
    fn small_sets() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[3.0]), Some(Summary { n: 1, min: 3.0, median: 3.0, max: 3.0, mean: 3.0 }));
        let odd = Summary::of(&[9.0, 1.0, 2.0]);
        assert_eq!(odd, Some(Summary { n: 3, min: 1.0, median: 2.0, max: 9.0, mean: 4.0 }));
        let even = Summary::of(&[4.0, 1.0, 2.0, 9.0]);
        assert_eq!(even, Some(Summary { n: 4, min: 1.0, median: 3.0, max: 9.0, mean: 4.0 }));
    }

    proptest! {
        #[test]
        fn the_middle_lies_in_between(values in prop::collection::vec(-1e300f64..1e300, 1..40)) {
            let s = Summary::of(&values).unwrap();
            prop_assert!(s.min <= s.median && s.median <= s.max);
            prop_assert!(s.min <= s.mean && s.mean <= s.max);
            let below = values.iter().filter(|&&v| v < s.median).count();
            let above = values.iter().filter(|&&v| v > s.median).count();
            prop_assert!(2 * below <= s.n && 2 * above <= s.n);
        }
    }
}
