//! The last minute of what the host did, as small curves.

use super::load::{speed, total_watts};
use protocol::telemetry::Telemetry;
use std::collections::VecDeque;
use std::fmt::Write;

/// How far a curve reaches back, in ms.
const SPAN: f64 = 60_000.0;
/// Width and height of a curve in its own units.
const SIZE: (f64, f64) = (300.0, 40.0);

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    t_ms: f64,
    interval_ms: f64,
    mhz: Option<f64>,
    watts: Option<f64>,
}

/// Samples, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct History(VecDeque<Point>);

impl History {
    /// Takes one more, unless it is known; starts over when sampling does.
    pub(crate) fn push(&mut self, sample: &Telemetry) {
        let t = sample.t_ms;
        match self.0.back() {
            Some(last) if (last.t_ms - t).abs() < 0.5 => return,
            Some(last) if last.t_ms > t => self.0.clear(),
            _ => {}
        }
        while self.0.front().is_some_and(|p| p.t_ms < t - SPAN) {
            self.0.pop_front();
        }
        let (mhz, watts) = (speed(sample).map(|s| s.mean), total_watts(sample).map(|(_, watts)| watts));
        self.0.push_back(Point { t_ms: t, interval_ms: sample.interval_ms, mhz, watts });
    }

    /// The mean frequency as an SVG path, and the frequency in MHz at its upper edge.
    pub(crate) fn speed_path(&self) -> (String, f64) {
        self.path(|p| p.mhz)
    }

    /// The power as an SVG path, and the power in watts at its upper edge.
    pub(crate) fn power_path(&self) -> (String, f64) {
        self.path(|p| p.watts)
    }

    /// From 0 to the largest value, the newest at the right edge. Where a sample is missing, so is the line.
    fn path(&self, value: fn(&Point) -> Option<f64>) -> (String, f64) {
        let max = self.0.iter().filter_map(value).fold(0.0, f64::max);
        let newest = self.0.back().map_or(0.0, |p| p.t_ms);
        let mut path = String::new();
        let mut before = None;
        for p in &self.0 {
            let Some(v) = value(p).filter(|_| max > 0.0) else {
                before = None;
                continue;
            };
            let joined = before.is_some_and(|t| p.t_ms - t < 2.5 * p.interval_ms);
            let (x, y) = (SIZE.0 * (1.0 - (newest - p.t_ms) / SPAN), SIZE.1 * (1.0 - v / max));
            let _ = write!(path, "{}{x:.1} {y:.1}", if joined { "L" } else { "M" });
            before = Some(p.t_ms);
        }
        (path, max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::telemetry;
    use super::*;

    #[test]
    fn a_curve_spans_a_minute_and_breaks_where_samples_are_missing() {
        let mut history = History::default();
        for i in 0..400 {
            if i != 395 && i != 396 {
                history.push(&telemetry(f64::from(i) * 200.0));
            }
        }
        let (path, max) = history.power_path();
        assert!((max - 12.5).abs() < 1e-9 && path.starts_with("M0.0 0.0L1.0 0.0"), "{path}");
        assert!(path.ends_with("M298.0 0.0L299.0 0.0L300.0 0.0"), "{path}");
        assert_eq!(path.matches('M').count(), 2);
    }

    #[test]
    fn sampling_that_starts_over_starts_a_new_curve() {
        let mut history = History::default();
        for t in [600.0, 800.0, 800.0, 200.0] {
            history.push(&telemetry(t));
        }
        assert_eq!(history.0.len(), 1);
        assert_eq!(History::default().speed_path(), (String::new(), 0.0));
    }
}
