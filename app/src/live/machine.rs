//! When to connect, when to wait, and which frames to believe.

/// First pause after a lost connection, in ms.
const FIRST_PAUSE: f64 = 250.0;
/// Longest pause, in ms.
const LONGEST_PAUSE: f64 = 8000.0;
/// Where frames are due, silence for this long, in ms, means that the connection is dead.
pub(crate) const SILENCE: f64 = 20_000.0;

/// How the connection stands, as the page shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Connection {
    /// First attempt, nothing to worry about.
    #[default]
    Connecting,
    /// Frames arrive.
    Live,
    /// Lost; trying again by itself.
    Lost,
}

/// What to do with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is the next one.
    Apply,
    /// Frames are missing: ask for a snapshot, once.
    Resync,
    /// A snapshot is under way; until it is here this one tells nothing.
    Skip,
}

/// The machine.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    connection: Connection,
    attempts: u32,
    /// Sequence number of the last frame that was applied; none until a snapshot came.
    seq: Option<u64>,
    resyncing: bool,
}

impl Machine {
    /// How the connection stands.
    #[cfg(test)]
    pub(crate) fn connection(&self) -> Connection {
        self.connection
    }

    /// Whether the present socket has brought its snapshot; one that was just reopened has not.
    pub(crate) fn fed(&self) -> bool {
        self.connection == Connection::Live && self.seq.is_some()
    }

    /// The socket is gone, or could not be opened. Returns the pause in ms before the next attempt: doubling, and
    /// spread by `random` (0 to 1) so that many viewers do not come back in the same instant.
    pub(crate) fn closed(&mut self, random: f64) -> f64 {
        self.connection = Connection::Lost;
        self.seq = None;
        self.resyncing = false;
        let pause = (FIRST_PAUSE * 2f64.powi(self.attempts.min(10).cast_signed())).min(LONGEST_PAUSE);
        self.attempts += 1;
        pause * (0.5 + random.clamp(0.0, 1.0) / 2.0)
    }

    /// The next socket shows another view of the stream: only its snapshot will count.
    pub(crate) fn reopened(&mut self) {
        self.seq = None;
        self.resyncing = false;
    }

    /// A frame came.
    pub(crate) fn frame(&mut self, seq: u64, snapshot: bool) -> Verdict {
        if snapshot {
            self.connection = Connection::Live;
            self.attempts = 0;
            self.resyncing = false;
            self.seq = Some(seq);
            return Verdict::Apply;
        }
        if self.resyncing {
            return Verdict::Skip;
        }
        // What is said to this viewer alone has the number of the frame before.
        if self.seq.is_some_and(|s| seq == s || Some(seq) == s.checked_add(1)) {
            self.seq = Some(seq);
            return Verdict::Apply;
        }
        self.resyncing = true;
        Verdict::Resync
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit_and_start_over_after_a_snapshot() {
        let mut m = Machine::default();
        let pauses: Vec<f64> = (0..8).map(|_| m.closed(1.0)).collect();
        assert_eq!(pauses, [250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0, 8000.0, 8000.0]);
        assert_eq!(m.connection(), Connection::Lost);
        m.frame(7, true);
        assert_eq!((m.connection(), m.closed(0.0)), (Connection::Live, 125.0));
    }

    #[test]
    fn a_gap_asks_once_and_skips_until_the_snapshot() {
        let mut m = Machine::default();
        assert_eq!(m.frame(1, true), Verdict::Apply);
        assert_eq!((m.frame(2, false), m.frame(2, false)), (Verdict::Apply, Verdict::Apply));
        assert_eq!(m.frame(5, false), Verdict::Resync);
        assert_eq!(m.frame(6, false), Verdict::Skip);
        assert_eq!(m.frame(9, true), Verdict::Apply);
        assert_eq!(m.frame(10, false), Verdict::Apply);
    }

    #[test]
    fn a_line_that_was_reopened_waits_for_its_snapshot() {
        let mut m = Machine::default();
        m.frame(1, true);
        m.reopened();
        assert!(!m.fed());
        assert_eq!((m.connection(), m.frame(2, false)), (Connection::Live, Verdict::Resync));
        assert_eq!(m.frame(3, true), Verdict::Apply);
    }

    #[test]
    fn nothing_is_believed_before_the_first_snapshot() {
        let mut m = Machine::default();
        assert_eq!(m.frame(4, false), Verdict::Resync);
        m.frame(5, true);
        m.closed(0.5);
        assert_eq!(m.frame(6, false), Verdict::Resync);
    }
}
