//! Where the next access goes.
//!
//! Offsets are multiples of the block size from the start of the job's range, and cover all of it. The generator
//! is xoshiro256++ (Blackman and Vigna, 2019): a few ns per offset, and the same sequence for the same seed
//! everywhere.

use protocol::workload::{Distribution, Rw, Workload};
use rand_distr::{Distribution as _, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// One job's part of the target: `blocks` blocks of `bs` bytes from `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) blocks: u64,
}

/// Divides `size` bytes from `offset` into one range per job: disjoint, block-aligned, differing by at most one
/// block, covering every whole block.
pub(crate) fn split(offset: u64, size: u64, bs: u64, jobs: u32) -> Vec<Range> {
    let (blocks, jobs) = (size / bs, u64::from(jobs));
    let cut = |job: u64| (u128::from(blocks) * u128::from(job) / u128::from(jobs)) as u64;
    (0..jobs).map(|j| Range { start: offset + cut(j) * bs, blocks: cut(j + 1) - cut(j) }).collect()
}

enum Order {
    Sequential { next: u64 },
    Uniform,
    Zipf { zipf: Zipf<f64>, stride: u64 },
    Pareto { exponent: f64, stride: u64 },
}

/// Draws offsets and directions for one job.
pub(crate) struct Offsets {
    rng: Xoshiro256PlusPlus,
    range: Range,
    bs: u64,
    order: Order,
    /// Reads per 2^32 accesses.
    reads: u64,
}

impl Offsets {
    pub(crate) fn new(workload: &Workload, range: Range, job: u32) -> Self {
        let order = match (workload.rw.random(), workload.random_distribution) {
            (false, _) => Order::Sequential { next: 0 },
            (true, Distribution::Uniform) => Order::Uniform,
            (true, Distribution::Zipf(theta)) => match Zipf::new(range.blocks as f64, theta) {
                Ok(zipf) => Order::Zipf { zipf, stride: stride(range.blocks) },
                Err(_) => Order::Uniform,
            },
            // A share 1-h of the accesses to a share h of the blocks: rank = n * u^(ln h / ln (1-h)), as in fio.
            (true, Distribution::Pareto(h)) => {
                Order::Pareto { exponent: h.ln() / (1.0 - h).ln(), stride: stride(range.blocks) }
            }
        };
        let reads = match (workload.rw, u64::from(workload.rwmixread)) {
            (Rw::Rw | Rw::RandRw, percent) => (percent << 32) / 100,
            (rw, _) => u64::from(rw.reads()) << 32,
        };
        let rng = Xoshiro256PlusPlus::seed_from_u64(workload.randseed ^ (u64::from(job) << 40));
        Self { rng, range, bs: workload.bs.0, order, reads }
    }

    /// The next offset in bytes, and whether it is to be read (else written).
    #[inline]
    pub(crate) fn next(&mut self) -> (u64, bool) {
        let blocks = self.range.blocks;
        let block = match &mut self.order {
            Order::Sequential { next } => {
                let block = *next;
                *next = if block + 1 == blocks { 0 } else { block + 1 };
                block
            }
            Order::Uniform => below(self.rng.next_u64(), blocks),
            Order::Zipf { zipf, stride } => scatter(zipf.sample(&mut self.rng) as u64 - 1, *stride, blocks),
            Order::Pareto { exponent, stride } => {
                let rank = (blocks as f64 * unit(self.rng.next_u64()).powf(*exponent)) as u64;
                scatter(rank.min(blocks - 1), *stride, blocks)
            }
        };
        let read = match self.reads {
            0 => false,
            all if all == 1 << 32 => true,
            some => self.rng.next_u64() >> 32 < some,
        };
        (self.range.start + block * self.bs, read)
    }

    /// Time to the next start of a Poisson process with this mean, in the mean's unit.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - unit(self.rng.next_u64())).ln()
    }
}

/// `random` scaled to 0..n (Lemire's multiplication; the bias is below n / 2^64).
#[inline]
fn below(random: u64, n: u64) -> u64 {
    ((u128::from(random) * u128::from(n)) >> 64) as u64
}

/// `random` as a number from 0 to below 1 with 53 bits.
fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1u64 << 53) as f64
}

/// Spreads popular ranks over the range: rank k lies at k * stride mod n, a permutation as stride and n are coprime.
fn scatter(rank: u64, stride: u64, n: u64) -> u64 {
    (u128::from(rank) * u128::from(stride) % u128::from(n)) as u64
}

/// A step near n / golden ratio that is coprime to n.
fn stride(n: u64) -> u64 {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let mut s = ((n as f64 * 0.618_033_988_75) as u64).max(1);
    while gcd(n, s) != 1 {
        s += 1;
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use protocol::units::Bytes;

    fn offsets(rw: Rw, blocks: u64, distribution: Distribution) -> Offsets {
        let w = Workload { random_distribution: distribution, bs: Bytes(4096), ..Workload::new(rw) };
        Offsets::new(&w, Range { start: 1 << 20, blocks }, 0)
    }

    proptest! {
        #[test]
        fn jobs_get_disjoint_ranges_that_cover_everything(
            offset in 0u64..1 << 40, blocks in 1u64..1 << 30, bs in (0u32..12).prop_map(|s| 512u64 << s), jobs in 1u32..64,
        ) {
            let jobs = jobs.min(u32::try_from(blocks).unwrap());
            let ranges = split(offset, blocks * bs + bs / 2, bs, jobs);
            let mut at = offset;
            for r in &ranges {
                prop_assert_eq!(r.start, at);
                prop_assert!(r.blocks >= blocks / u64::from(jobs) && r.blocks <= blocks / u64::from(jobs) + 1);
                at += r.blocks * bs;
            }
            prop_assert_eq!(at, offset + blocks * bs);
        }

        #[test]
        fn every_offset_is_aligned_and_inside(blocks in 1u64..1 << 40, which in 0usize..4) {
            let d = [Distribution::Uniform, Distribution::Zipf(1.2), Distribution::Zipf(0.6), Distribution::Pareto(0.2)];
            let mut o = offsets(Rw::RandRead, blocks, d[which]);
            for _ in 0..200 {
                let (at, read) = o.next();
                prop_assert!(read && at >= 1 << 20 && (at - (1 << 20)) % 4096 == 0 && (at - (1 << 20)) / 4096 < blocks);
            }
        }

        #[test]
        fn scattering_is_a_permutation(n in 1u64..2000) {
            let s = stride(n);
            let mut seen: Vec<_> = (0..n).map(|k| scatter(k, s, n)).collect();
            seen.sort_unstable();
            prop_assert!(seen.iter().copied().eq(0..n));
        }
    }

    #[test]
    fn uniform_draws_reach_every_block_about_equally_often() {
        let mut o = offsets(Rw::RandRead, 100, Distribution::Uniform);
        let mut hits = [0u32; 100];
        for _ in 0..100_000 {
            hits[((o.next().0 - (1 << 20)) / 4096) as usize] += 1;
        }
        // Expected 1000 each with a standard deviation of 31.5; six of them either way.
        assert!(hits.iter().all(|h| (811..1190).contains(h)), "{hits:?}");
    }

    #[test]
    fn sequential_wraps_and_mixes_keep_their_share() {
        let mut o = offsets(Rw::Read, 3, Distribution::Uniform);
        let blocks: Vec<_> = (0..7).map(|_| (o.next().0 - (1 << 20)) / 4096).collect();
        assert_eq!(blocks, [0, 1, 2, 0, 1, 2, 0]);
        let w = Workload { rwmixread: 70, ..Workload::new(Rw::RandRw) };
        let mut o = Offsets::new(&w, Range { start: 0, blocks: 1000 }, 0);
        let reads = (0..100_000).filter(|_| o.next().1).count();
        assert!((69_000..71_000).contains(&reads), "{reads}");
    }

    #[test]
    fn skewed_draws_are_skewed_as_defined() {
        // Pareto 0.2: 80 % of accesses go to 20 % of the blocks.
        let mut o = offsets(Rw::RandRead, 1000, Distribution::Pareto(0.2));
        let mut hits = vec![0u32; 1000];
        for _ in 0..100_000 {
            hits[((o.next().0 - (1 << 20)) / 4096) as usize] += 1;
        }
        hits.sort_unstable_by(|a, b| b.cmp(a));
        let top: u32 = hits.iter().take(200).sum();
        assert!((78_000..82_000).contains(&top), "{top}");
    }

    #[test]
    fn the_same_seed_gives_the_same_offsets_and_jobs_differ() {
        let w = Workload::new(Rw::RandRead);
        let draw = |job| {
            let mut o = Offsets::new(&w, Range { start: 0, blocks: 1 << 20 }, job);
            (0..50).map(|_| o.next().0).collect::<Vec<_>>()
        };
        assert_eq!(draw(0), draw(0));
        assert_ne!(draw(0), draw(1));
    }
}
