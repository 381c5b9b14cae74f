//! Who watches a stream, and how many may.

use protocol::api::Role;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Seats for the operator's own pages, on each stream.
const OPERATORS: usize = 64;
/// Seats for viewers on the network, on each stream; the operator's are not theirs to take.
const VIEWERS: usize = 320;

/// The audience of one stream.
#[derive(Debug, Default)]
pub(super) struct Audience {
    operators: AtomicUsize,
    viewers: AtomicUsize,
    resyncs: AtomicU64,
}

impl Audience {
    fn seats(&self, role: Role) -> (&AtomicUsize, usize) {
        match role {
            Role::Operator => (&self.operators, OPERATORS),
            Role::Viewer => (&self.viewers, VIEWERS),
        }
    }

    /// Counts somebody in, unless there are too many of that role.
    pub(super) fn admit(this: &Arc<Self>, role: Role) -> Option<Place> {
        let (taken, most) = this.seats(role);
        taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < most).then_some(n + 1)).ok()?;
        Some(Place { audience: Arc::clone(this), role })
    }

    pub(super) fn watching(&self, role: Role) -> usize {
        self.seats(role).0.load(Ordering::Relaxed)
    }

    pub(super) fn count_resync(&self) {
        self.resyncs.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn resyncs(&self) -> u64 {
        self.resyncs.load(Ordering::Relaxed)
    }
}

/// A place in the audience, given up when dropped.
#[derive(Debug)]
pub(super) struct Place {
    audience: Arc<Audience>,
    role: Role,
}

impl Place {
    pub(super) fn role(&self) -> Role {
        self.role
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.audience.seats(self.role).0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_limited_and_given_back_and_viewers_take_none_of_the_operators() {
        let audience = Arc::new(Audience::default());
        let seats: Vec<_> = (0..VIEWERS).map(|_| Audience::admit(&audience, Role::Viewer).unwrap()).collect();
        assert!(Audience::admit(&audience, Role::Viewer).is_none());
        assert!(Audience::admit(&audience, Role::Operator).is_some());
        drop(seats);
        assert!(Audience::admit(&audience, Role::Viewer).is_some());
        assert_eq!(audience.watching(Role::Viewer), 0);
    }
}
