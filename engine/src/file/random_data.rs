//! Incompressible data, made faster than any drive can take it.
//!
//! Eight interleaved xorshift128+ generators (Vigna, 2014), which compilers turn into vector code. Good enough to
//! defeat compression and deduplication, which is all it is for. The measured rate is part of the engine's facts.

const LANES: usize = 8;

/// A stream of random bytes; streams of different seeds have nothing in common.
pub(crate) struct RandomData {
    a: [u64; LANES],
    b: [u64; LANES],
}

impl RandomData {
    pub(crate) fn new(seed: u64) -> Self {
        // SplitMix64 (Steele, Lea and Flood, 2014), as its author recommends for seeding.
        let mut z = seed;
        let mut next = || {
            z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = z;
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        };
        Self { a: std::array::from_fn(|_| next()), b: std::array::from_fn(|_| next()) }
    }

    /// Overwrites all of `out`.
    pub(crate) fn fill(&mut self, out: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has AVX2, as just asked.
            unsafe { self.fill_avx2(out) };
            return;
        }
        self.fill_lanes(out);
    }

    /// The same code, compiled for 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn fill_avx2(&mut self, out: &mut [u8]) {
        self.fill_lanes(out);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it must be compiled with the target features of its caller")]
    fn fill_lanes(&mut self, out: &mut [u8]) {
        let (mut a, mut b) = (self.a, self.b);
        let mut step = || {
            let mut result = [0u64; LANES];
            for i in 0..LANES {
                let (mut x, y) = (a[i], b[i]);
                x ^= x << 23;
                let new = x ^ y ^ (x >> 18) ^ (y >> 5);
                result[i] = new.wrapping_add(y);
                a[i] = y;
                b[i] = new;
            }
            result
        };
        let mut chunks = out.chunks_exact_mut(LANES * 8);
        for chunk in &mut chunks {
            for (word, value) in chunk.chunks_exact_mut(8).zip(step()) {
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
        let rest = step().map(u64::to_le_bytes);
        for (byte, value) in chunks.into_remainder().iter_mut().zip(rest.as_flattened()) {
            *byte = *value;
        }
        (self.a, self.b) = (a, b);
    }
}

/// Makes a block that repeats earlier random data unique again: a 16-byte stamp at the start of every 4 KiB, the
/// granularity of deduplication.
pub(crate) fn stamp(block: &mut [u8], key: u64, counter: u64) {
    let mut bytes = [0u8; 16];
    bytes[..8].copy_from_slice(&key.to_le_bytes());
    for (i, page) in block.chunks_mut(4096).enumerate() {
        bytes[8..].copy_from_slice(&(counter.wrapping_shl(16).wrapping_add(i as u64)).to_le_bytes());
        if let Some(head) = page.get_mut(..16) {
            head.copy_from_slice(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_block_repeats_and_bytes_are_evenly_spread() {
        let mut data = vec![0u8; 8 << 20];
        RandomData::new(7).fill(&mut data);
        let blocks: HashSet<&[u8]> = data.chunks(512).collect();
        assert_eq!(blocks.len(), data.len() / 512);
        let mut counts = [0f64; 256];
        for &b in &data {
            counts[usize::from(b)] += 1.0;
        }
        let expected = data.len() as f64 / 256.0;
        let chi2: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
        // 255 degrees of freedom: mean 255, standard deviation 22.6; six of them.
        assert!(chi2 < 391.0, "{chi2}");
    }

    #[test]
    fn every_length_is_filled_and_streams_differ() {
        for n in [0, 1, 7, 63, 64, 65, 4095] {
            let (mut one, mut other) = (vec![0u8; n], vec![0u8; n]);
            RandomData::new(1).fill(&mut one);
            RandomData::new(2).fill(&mut other);
            assert!(n < 16 || one != other);
            assert!(n < 64 || one.iter().rev().take(16).any(|&b| b != 0));
        }
    }

    #[test]
    fn stamps_make_equal_blocks_differ_in_every_page() {
        let (mut a, mut b) = (vec![7u8; 16384], vec![7u8; 16384]);
        stamp(&mut a, 1, 1);
        stamp(&mut b, 1, 2);
        let pages: HashSet<&[u8]> = a.chunks(4096).chain(b.chunks(4096)).collect();
        assert_eq!(pages.len(), 8);
        let mut small = vec![7u8; 512];
        stamp(&mut small, 3, 4);
        assert_ne!(small, vec![7u8; 512]);
    }
}
