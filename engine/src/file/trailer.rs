//! The marker of a file of our own: one page behind the measured bytes.
//!
//! It stands at the end because the measured range begins at 0 and may be written to. Layout, little endian:
//! 16 bytes magic, u64 size of the measured range, u64 seed of its data, u32 state, u32 checksum (CRC-free: the
//! sum of all bytes before it, which is enough to tell a torn page from a whole one), zeros to 4096.

const MAGIC: &[u8; 16] = b"brakecheck file\x01";
/// Length of the marker.
pub(crate) const LEN: usize = 4096;

/// How far a file got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Being filled; worthless if nobody is at it.
    Filling,
    /// Full, to be removed when its run ends.
    Full,
    /// Full, to be left for the next run.
    Kept,
}

/// A file's marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) size: u64,
    pub(crate) seed: u64,
    pub(crate) state: State,
}

impl Trailer {
    pub(crate) fn encode(self) -> [u8; LEN] {
        let mut page = [0u8; LEN];
        let state: u32 = match self.state {
            State::Filling => 0,
            State::Full => 1,
            State::Kept => 2,
        };
        page[..16].copy_from_slice(MAGIC);
        page[16..24].copy_from_slice(&self.size.to_le_bytes());
        page[24..32].copy_from_slice(&self.seed.to_le_bytes());
        page[32..36].copy_from_slice(&state.to_le_bytes());
        let sum = checksum(&page);
        page[36..40].copy_from_slice(&sum.to_le_bytes());
        page
    }

    /// `None` for anything that is not a whole marker.
    pub(crate) fn decode(page: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(page.get(at..at + 8)?.try_into().ok()?));
        let half = |at: usize| Some(u32::from_le_bytes(page.get(at..at + 4)?.try_into().ok()?));
        if page.len() != LEN || page.get(..16)? != MAGIC || half(36)? != checksum(page) {
            return None;
        }
        let state = match half(32)? {
            0 => State::Filling,
            1 => State::Full,
            2 => State::Kept,
            _ => return None,
        };
        Some(Self { size: number(16)?, seed: number(24)?, state })
    }
}

fn checksum(page: &[u8]) -> u32 {
    page.iter().take(36).map(|&b| u32::from(b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_reads_back_and_damage_is_noticed() {
        let trailer = Trailer { size: 1 << 30, seed: 42, state: State::Kept };
        let page = trailer.encode();
        assert_eq!(Trailer::decode(&page), Some(trailer));
        for at in 0..40 {
            let mut torn = page;
            torn[at] ^= 1;
            assert_eq!(Trailer::decode(&torn), None, "byte {at}");
        }
        assert_eq!(Trailer::decode(&page[..100]), None);
        assert_eq!(Trailer::decode(&[0; LEN]), None);
    }
}
