//! Axes: round limits and round steps.

/// The smallest round number that is at least `v`, so that a live axis moves rarely and in steps.
pub(crate) fn round_up(v: f64) -> f64 {
    if v <= 0.0 || !v.is_finite() {
        return 1.0;
    }
    let decade = 10f64.powf(v.log10().floor());
    let steps = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|s| s * decade).find(|s| *s >= v * (1.0 - 1e-9)).unwrap_or(10.0 * decade)
}

/// Round values from 0 to `max`, both included where they fall on a step; at most `most` steps.
pub(crate) fn ticks(max: f64, most: usize) -> Vec<f64> {
    let raw = max / most.max(1) as f64;
    let decade = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|s| s * decade).find(|s| *s >= raw * (1.0 - 1e-9));
    multiples(step.unwrap_or(raw), max)
}

/// Round times in s from 0 to `max`.
pub(crate) fn time_ticks(max: f64, most: usize) -> Vec<f64> {
    let raw = max / most.max(1) as f64;
    let steps = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0];
    multiples(steps.into_iter().find(|s| *s >= raw).unwrap_or_else(|| (raw / 3600.0).ceil() * 3600.0), max)
}

fn multiples(step: f64, max: f64) -> Vec<f64> {
    (0..=100).map(|i| f64::from(i) * step).take_while(|v| *v <= max * (1.0 + 1e-9)).collect()
}

/// Length of the time axis in s: all of a short group at once; a long one grows in round steps.
pub(crate) fn span(total: f64, elapsed: f64) -> f64 {
    if total <= 120.0 {
        return total.max(elapsed).max(0.1);
    }
    let steps = [60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0];
    steps.into_iter().find(|s| *s >= elapsed).unwrap_or_else(|| (elapsed / 7200.0).ceil() * 7200.0).min(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_round_and_never_below_the_data() {
        for (v, up) in [(523.0, 600.0), (100.0, 100.0), (0.013, 0.015), (1001.0, 1200.0), (0.0, 1.0), (9.9, 10.0)] {
            assert!((round_up(v) - up).abs() < 1e-9 * up, "{v}: {}", round_up(v));
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(600.0, 4), [0.0, 200.0, 400.0, 600.0]);
        assert_eq!(ticks(1.0, 4), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(time_ticks(20.0, 8), [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert!(time_ticks(1e6, 8).len() <= 9);
    }

    #[test]
    fn short_runs_have_a_fixed_axis_and_long_ones_grow() {
        assert_eq!((span(20.0, 3.0), span(20.0, 20.4)), (20.0, 20.4));
        assert_eq!((span(3600.0, 3.0), span(3600.0, 61.0), span(3600.0, 3599.0)), (60.0, 120.0, 3600.0));
    }
}
