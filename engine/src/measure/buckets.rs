//! The bucket layout of latency histograms: `HdrHistogram`'s with three significant digits.
//!
//! Values below 2048 ns have a bucket each; above, every doubling is divided into 1024 buckets, so that a bucket is
//! never wider than 0.1 % of its values. The last bucket ends at 2^41 ns (37 minutes) and takes what is longer.

/// Buckets of one histogram.
pub(crate) const COUNT: usize = 31 * 1024 + 1024;
/// Largest value with a bucket of its own kind.
pub(crate) const MAX_NS: u64 = (1 << 41) - 1;

/// The bucket of `ns`.
#[inline]
pub(crate) fn index(ns: u64) -> usize {
    let ns = if ns > MAX_NS { MAX_NS } else { ns };
    let shift = (ns | 1024).ilog2() - 10;
    ((shift as usize) << 10) + (ns >> shift) as usize
}

/// The largest value that falls into bucket `index`.
#[inline]
pub(crate) fn highest(index: usize) -> u64 {
    let shift = (index >> 10).saturating_sub(1);
    let lowest = ((index - (shift << 10)) as u64) << shift;
    lowest + (1 << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_largest_value_has_the_last_bucket() {
        assert_eq!(index(MAX_NS), COUNT - 1);
        assert_eq!(index(u64::MAX), COUNT - 1);
        assert_eq!(index(0), 0);
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_value_and_is_narrow(ns in 0..MAX_NS) {
            let high = highest(index(ns));
            prop_assert!(high >= ns && high - ns <= ns / 1024);
        }
        #[test]
        fn buckets_are_in_order(ns in 0..MAX_NS) {
            prop_assert!(index(ns + 1) == index(ns) || index(ns + 1) == index(ns) + 1);
        }
    }
}
