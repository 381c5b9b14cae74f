//! What a chart shows, worked out from a track: positions in axis units, gaps, passes.

use super::scale::{round_up, span};
use crate::model::{Group, Metric, Point, Track, quantile};

/// One point of the line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spot {
    /// Seconds since the first pass began.
    pub(crate) x: f64,
    /// Value in base units.
    pub(crate) y: f64,
    /// Upper edge of the band: the 99th percentile.
    pub(crate) high: Option<f64>,
    /// The line does not come from the point before.
    pub(crate) gap: bool,
    /// Ramp, or a pass that is not scored.
    pub(crate) faint: bool,
    /// Index in the track.
    pub(crate) index: usize,
}

/// One pass on the time axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pass {
    /// Where it begins, in s.
    pub(crate) x: f64,
    /// What it is called.
    pub(crate) label: String,
}

/// A chart's contents.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// Length of the time axis in s.
    pub(crate) x_max: f64,
    /// End of the value axis in base units; it begins at zero.
    pub(crate) y_max: f64,
    /// The line.
    pub(crate) spots: Vec<Spot>,
    /// The passes, when there are several.
    pub(crate) passes: Vec<Pass>,
    /// The band goes beyond the axis somewhere.
    pub(crate) clipped: bool,
}

impl Curve {
    /// The curve of one group for one metric.
    pub(crate) fn new(group: &Group, track: &Track, metric: Metric) -> Self {
        let length = group.pass_seconds();
        let offset = |step: u32| group.steps.iter().position(|s| *s == step).map(|i| i as f64 * length);
        let scored_from = group.steps.get(group.warmups).copied().unwrap_or(u32::MAX);
        let mut spots = Vec::new();
        let mut before: Option<&Point> = None;
        for (index, point) in track.points().iter().enumerate() {
            let broken = !before.is_some_and(|b| follows(b, point));
            before = Some(point);
            let (Some(start), Some(y)) = (offset(point.step), point.value(metric)) else {
                before = None;
                continue;
            };
            spots.push(Spot {
                x: start + point.t,
                y,
                high: point.lat.filter(|_| metric == Metric::Latency).map(|l| l.p99),
                gap: broken,
                faint: point.ramp || point.step < scored_from,
                index,
            });
        }
        let elapsed = spots.last().map_or(0.0, |s| s.x);
        let line = spots.iter().map(|s| s.y).fold(0.0, f64::max);
        // A single stall must not flatten everything else; the band may leave the axis, and then it is said.
        let mut highs: Vec<f64> = spots.iter().filter_map(|s| s.high).collect();
        let top = line.max(quantile(&mut highs, 0.95).unwrap_or(0.0));
        let y_max = if top > 0.0 { round_up(top * 1.05) } else { 0.0 };
        let passes = group.steps.iter().enumerate().map(|(i, _)| Pass {
            x: i as f64 * length,
            label: if i < group.warmups { "not scored".into() } else { format!("pass {}", i + 1 - group.warmups) },
        });
        Self {
            x_max: span(length * group.steps.len() as f64, elapsed),
            y_max,
            clipped: highs.last().is_some_and(|h| *h > y_max),
            passes: if group.steps.len() > 1 { passes.collect() } else { Vec::new() },
            spots,
        }
    }

    /// The point nearest to a time.
    pub(crate) fn nearest(&self, x: f64) -> Option<usize> {
        let distance = |s: &Spot| (s.x - x).abs();
        let all = self.spots.iter().enumerate();
        all.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map(|(i, _)| i)
    }
}

/// Whether a line may be drawn from one point to the next. Ramp and measured part of a pass are one line.
fn follows(before: &Point, point: &Point) -> bool {
    before.step == point.step && point.t - point.dt - before.t < 0.5 * point.dt.max(0.05)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RunModel, groups};
    use protocol::sample::Sample;

    fn curve(times: &[(u32, f64)]) -> Curve {
        let record = crate::model::fixture::record(2);
        let mut track = Track::default();
        for (step, t_ms) in times {
            track.push(Point::from(&Sample { t_ms: *t_ms, ..crate::model::fixture::sample(*step, 1) }));
        }
        Curve::new(&groups(&RunModel::new(record).record.spec)[0], &track, Metric::Iops)
    }

    #[test]
    fn passes_stand_side_by_side_and_missing_samples_leave_a_gap() {
        let c = curve(&[(0, 50.0), (0, 100.0), (0, 250.0), (1, 50.0)]);
        let gaps: Vec<_> = c.spots.iter().map(|s| s.gap).collect();
        assert_eq!(gaps, [true, false, true, true]);
        // Each pass of the fixture takes five seconds.
        assert!((c.spots[3].x - 5.05).abs() < 1e-9 && (c.x_max - 10.0).abs() < 1e-9);
        assert_eq!(c.passes.len(), 2);
        assert!(c.y_max >= 200.0);
    }

    #[test]
    fn the_nearest_point_is_found_from_outside_too() {
        let c = curve(&[(0, 50.0), (0, 100.0)]);
        assert_eq!((c.nearest(-1.0), c.nearest(99.0), curve(&[]).nearest(0.0)), (Some(0), Some(1), None));
    }
}
