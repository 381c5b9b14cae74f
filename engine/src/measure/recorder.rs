//! Where one worker books its completions, and where others read them.
//!
//! Exactly one thread writes a recorder; any thread may read it meanwhile. So a booking is plain loads and stores
//! (relaxed atomics compile to them), without locked instructions, and a reader sees each completion at most one
//! look late, never twice and never lost.

use super::buckets;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Latencies of one direction of one worker.
pub(crate) struct Recorder {
    counts: Box<[AtomicU64]>,
    /// Lowest and highest bucket in use, so that readers need not scan all of them.
    low: AtomicU64,
    high: AtomicU64,
    sum_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        // SAFETY: all-zero bytes are valid `AtomicU64`s. Zeroed memory is not touched until used, so that the
        // hundreds of recorders of a deep thread pool cost address space only.
        let counts = unsafe { Box::<[AtomicU64]>::new_zeroed_slice(buckets::COUNT).assume_init() };
        Self {
            counts,
            low: AtomicU64::new(u64::MAX),
            high: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
        }
    }

    /// Books one completion. Only ever called by the one thread that owns the writing side.
    #[inline]
    pub(crate) fn record(&self, ns: u64) {
        let index = buckets::index(ns);
        if let Some(count) = self.counts.get(index) {
            count.store(count.load(Relaxed) + 1, Relaxed);
        }
        let index = index as u64;
        if index < self.low.load(Relaxed) {
            self.low.store(index, Relaxed);
        }
        if index > self.high.load(Relaxed) {
            self.high.store(index, Relaxed);
        }
        self.sum_ns.store(self.sum_ns.load(Relaxed) + ns, Relaxed);
        if ns < self.min_ns.load(Relaxed) {
            self.min_ns.store(ns, Relaxed);
        }
        if ns > self.max_ns.load(Relaxed) {
            self.max_ns.store(ns, Relaxed);
        }
    }

    /// Adds everything booked so far to `tally`.
    pub(crate) fn add_to(&self, tally: &mut Tally) {
        let low = self.low.load(Relaxed);
        if low == u64::MAX {
            return;
        }
        // `high` is read after `low`: it may lag behind one booking, which the next look then sees.
        let high = self.high.load(Relaxed).max(low);
        tally.reserve(low as usize, high as usize);
        for (index, count) in self.counts.iter().enumerate().take(high as usize + 1).skip(low as usize) {
            tally.add(index, count.load(Relaxed));
        }
        tally.sum_ns += self.sum_ns.load(Relaxed);
        tally.min_ns = tally.min_ns.min(self.min_ns.load(Relaxed));
        tally.max_ns = tally.max_ns.max(self.max_ns.load(Relaxed));
    }
}

/// Completions of any number of recorders at one moment.
#[derive(Clone)]
pub(crate) struct Tally {
    counts: Vec<u64>,
    low: usize,
    high: usize,
    pub(crate) sum_ns: u64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; buckets::COUNT], low: buckets::COUNT, high: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Back to nothing, keeping the memory.
    pub(crate) fn clear(&mut self) {
        if let Some(used) = self.counts.get_mut(self.low.min(self.high)..=self.high) {
            used.fill(0);
        }
        (self.low, self.high) = (buckets::COUNT, 0);
        (self.sum_ns, self.min_ns, self.max_ns) = (0, u64::MAX, 0);
    }

    fn reserve(&mut self, low: usize, high: usize) {
        self.low = self.low.min(low);
        self.high = self.high.max(high);
    }

    fn add(&mut self, index: usize, n: u64) {
        if let Some(count) = self.counts.get_mut(index) {
            *count += n;
        }
    }

    /// `(bucket, completions)` of all buckets in use, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let used = self.counts.get(self.low.min(self.counts.len())..=self.high.min(self.counts.len() - 1));
        used.unwrap_or_default().iter().enumerate().map(|(i, &n)| (i + self.low, n)).filter(|&(_, n)| n > 0)
    }

    /// Completions in all.
    pub(crate) fn total(&self) -> u64 {
        self.iter().map(|(_, n)| n).sum()
    }

    /// What came since `earlier`, an earlier look at the same recorders, as `(bucket, completions)`.
    pub(crate) fn since<'a>(&'a self, earlier: &'a Self) -> impl Iterator<Item = (usize, u64)> + 'a {
        self.iter().map(|(i, n)| (i, n - earlier.counts.get(i).copied().unwrap_or(0).min(n))).filter(|&(_, n)| n > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn looks_add_up_and_recorders_merge(
            a in prop::collection::vec(0u64..1 << 42, 0..200),
            b in prop::collection::vec(0u64..1 << 20, 0..200),
            cut in 0usize..200,
        ) {
            let (first, second) = (Recorder::new(), Recorder::new());
            let cut = cut.min(a.len());
            let look = || {
                let mut t = Tally::new();
                first.add_to(&mut t);
                second.add_to(&mut t);
                t
            };
            a.iter().take(cut).for_each(|&ns| first.record(ns));
            let early = look();
            a.iter().skip(cut).for_each(|&ns| first.record(ns));
            for &ns in &b {
                second.record(ns);
            }
            let late = look();
            prop_assert_eq!(early.total() + late.since(&early).map(|(_, n)| n).sum::<u64>(), late.total());
            prop_assert_eq!(late.total(), (a.len() + b.len()) as u64);
            prop_assert_eq!(late.sum_ns, a.iter().chain(&b).sum::<u64>());
            prop_assert_eq!(late.max_ns, a.iter().chain(&b).copied().max().unwrap_or(0));
            // Merging two recorders is the same as booking everything into one.
            let one = Recorder::new();
            a.iter().chain(&b).for_each(|&ns| one.record(ns));
            let mut whole = Tally::new();
            one.add_to(&mut whole);
            prop_assert_eq!(whole.iter().collect::<Vec<_>>(), late.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_cleared_tally_is_empty() {
        let r = Recorder::new();
        r.record(5);
        r.record(5_000_000);
        let mut t = Tally::new();
        r.add_to(&mut t);
        t.clear();
        assert_eq!((t.total(), t.iter().count()), (0, 0));
        r.add_to(&mut t);
        assert_eq!(t.total(), 2);
    }
}
