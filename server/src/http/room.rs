//! Room for answers to viewers that wait to be taken.
//!
//! Each is held until its last byte is with the kernel. Viewers who ask for much and read slowly, or not at all, would
//! else take as much memory as they like from the host that measures.

use axum::body::Bytes;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is counted, in bytes. Answers below are not: the limit of connections is theirs.
const UNIT: usize = 64 << 10;
/// All that answers may hold together, in units: 64 MiB. A larger one has all the room to itself.
const UNITS: u32 = 1024;

/// The room of one listener.
#[derive(Debug, Clone)]
pub(super) struct Room(Arc<Semaphore>);

/// An answer with its place, which is given back with the last of it.
struct Kept {
    bytes: Bytes,
    _place: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Room {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(UNITS as usize)))
    }

    /// The same bytes with a place; `None` where there is none.
    pub(super) fn keep(&self, bytes: Bytes) -> Option<Bytes> {
        if bytes.len() < UNIT {
            return Some(bytes);
        }
        let units = u32::try_from(bytes.len().div_ceil(UNIT)).map_or(UNITS, |units| units.min(UNITS));
        let place = Arc::clone(&self.0).try_acquire_many_owned(units).ok()?;
        Some(Bytes::from_owner(Kept { bytes, _place: place }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_answers_have_places_until_the_last_part_is_gone_and_small_ones_need_none() {
        let room = Room::new();
        let answer = |units: usize| Bytes::from(vec![7; units * UNIT]);
        let mut first = room.keep(answer(1000)).unwrap();
        assert!(room.keep(answer(25)).is_none());
        assert!(room.keep(answer(24)).is_some());
        assert!(room.keep(Bytes::from_static(b"small")).is_some());
        let rest = first.split_off(UNIT);
        drop(first);
        assert!(room.keep(answer(25)).is_none());
        drop(rest);
        let larger = room.keep(answer(1025)).unwrap();
        assert_eq!(larger.len(), 1025 * UNIT);
        assert!(room.keep(answer(1)).is_none());
        assert!(room.keep(Bytes::from_static(b"small")).is_some());
    }
}
