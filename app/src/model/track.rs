//! The points of one curve in bounded memory.

use super::point::Point;

/// Points kept at most; when full, neighbours are merged and the curve goes on at half the resolution.
const CAPACITY: usize = 2400;

/// Points of one cell or workload, in order of step and time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Track {
    points: Vec<Point>,
    /// Samples per point: 1, 2, 4, ...
    every: u32,
    /// Samples of the point that is being filled.
    pending: u32,
}

impl Default for Track {
    fn default() -> Self {
        Self { points: Vec::new(), every: 1, pending: 0 }
    }
}

impl Track {
    /// The points.
    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    /// How many samples each point stands for.
    pub(crate) fn every(&self) -> u32 {
        self.every
    }

    /// Adds a point at the end. One that is already there (seen in a snapshot and again as an event) is left out.
    pub(crate) fn push(&mut self, point: Point) {
        let last = self.points.last_mut();
        match last {
            Some(last) if (point.step, point.t) <= (last.step, last.t + 1e-6) => {}
            Some(last) if self.pending < self.every && continues(last, &point) => {
                *last = last.merge(point);
                self.pending += 1;
            }
            _ => {
                self.points.push(point);
                self.pending = 1;
            }
        }
        if self.points.len() > CAPACITY {
            self.halve();
        }
    }

    /// Puts these points, oldest first, in place of what is there, except for points that are newer than all of them.
    pub(crate) fn backfill(&mut self, older: impl Iterator<Item = Point>) {
        let newer = std::mem::take(self);
        older.for_each(|p| self.push(p));
        newer.points.into_iter().for_each(|p| self.push(p));
    }

    fn halve(&mut self) {
        let mut merged: Vec<Point> = Vec::with_capacity(self.points.len() / 2 + 1);
        let mut joinable = false;
        for point in self.points.drain(..) {
            match merged.last_mut() {
                Some(last) if joinable && continues(last, &point) => {
                    *last = last.merge(point);
                    joinable = false;
                }
                _ => {
                    merged.push(point);
                    joinable = true;
                }
            }
        }
        self.points = merged;
        self.every *= 2;
        self.pending = self.every;
    }
}

/// Whether `next` follows without a gap: same step, same phase, its interval beginning where the last ended.
pub(crate) fn continues(last: &Point, next: &Point) -> bool {
    let slack = 0.5 * next.dt.max(0.05);
    last.step == next.step && last.ramp == next.ramp && (next.t - next.dt - last.t).abs() < slack
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::whole;

    fn point(step: u32, i: u32) -> Point {
        Point { step, t: f64::from(i) * 0.05, dt: 0.05, ios: 1.0, ..Point::default() }
    }

    #[test]
    fn memory_stays_bounded_and_no_access_is_lost() {
        let mut track = Track::default();
        for i in 1..=100_000 {
            track.push(point(0, i));
        }
        assert!(track.points().len() <= CAPACITY);
        assert!((track.points().iter().map(|p| p.ios).sum::<f64>() - 100_000.0).abs() < 1e-6);
        assert!(track.every() >= 32 && track.points().windows(2).all(|w| w[0].t < w[1].t));
    }

    #[test]
    fn a_gap_in_the_data_is_never_merged_away() {
        let mut track = Track::default();
        for i in (1..=2000).chain(2100..=3500) {
            track.push(point(0, i));
        }
        let gaps = track.points().windows(2).filter(|w| !continues(&w[0], &w[1])).count();
        assert_eq!((track.every(), gaps), (2, 1));
    }

    #[test]
    fn what_a_snapshot_brought_is_not_taken_twice() {
        let mut track = Track::default();
        for i in [1, 2, 3, 2, 3, 4] {
            track.push(point(0, i));
        }
        assert_eq!(track.points().len(), 4);
    }

    #[test]
    fn earlier_points_are_put_before_those_that_are_there() {
        let mut track = Track::default();
        (5..8).for_each(|i| track.push(point(1, i)));
        track.backfill((1..4).map(|i| point(0, i)).chain((1..7).map(|i| point(1, i))));
        let times: Vec<_> = track.points().iter().map(|p| (p.step, whole((p.t * 20.0).round()))).collect();
        assert_eq!(times, [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7)]);
    }
}
