//! From values to places on an axis.

/// An axis: values from `low` to `high` at places from `start` to `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

/// More ticks than any axis has.
const MOST_TICKS: usize = 12;

impl Scale {
    /// Equal steps for equal differences. Holds all of the values; at least a little even if they are all the same.
    pub(super) fn linear(values: impl Iterator<Item = f64>, (start, end): (f64, f64)) -> Self {
        let (low, high) = span(values.filter(|v| v.is_finite())).unwrap_or((0.0, 1.0));
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        Self { low, high, start, end, logarithmic: false }
    }

    /// Equal steps for equal ratios, of the values above 0.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>, (start, end): (f64, f64)) -> Self {
        let (low, high) = span(values.filter(|v| v.is_finite() && *v > 0.0)).unwrap_or((1.0, 10.0));
        let high = if high > low * 1.5 { high } else { low * 1.5 };
        Self { low, high, start, end, logarithmic: true }
    }

    /// Where a value is; at the end of the axis if it is beyond.
    pub(super) fn at(&self, v: f64) -> f64 {
        let share = if self.logarithmic {
            (v.max(f64::MIN_POSITIVE).ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            v / (self.high - self.low) - self.low / (self.high - self.low)
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.start + share * (self.end - self.start)
    }

    /// Whether a value is within the axis.
    pub(super) fn holds(&self, v: f64) -> bool {
        (self.low..=self.high).contains(&v)
    }

    /// Round values along the axis, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: f64) -> Vec<f64> {
        if self.logarithmic { self.decades() } else { self.steps(wanted) }
    }

    fn steps(&self, wanted: f64) -> Vec<f64> {
        let rough = (self.high / wanted - self.low / wanted).max(f64::MIN_POSITIVE);
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil();
        let ticks = (0..MOST_TICKS).map(|i| (first + i as f64) * step);
        ticks.take_while(|t| *t <= self.high * (1.0 + 1e-9) + step * 1e-9).collect()
    }

    /// 1, 2 and 5 of each decade where there is room, else 1, else only some.
    fn decades(&self) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        let within = |t: &f64| (self.low * 0.999..=self.high * 1.001).contains(t);
        let of = |factors: &'static [f64], stride: f64| -> Vec<f64> {
            let count = ((last - first) / stride).clamp(0.0, 700.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let decades = (0..=count as usize).map(move |i| 10f64.powf(first + i as f64 * stride));
            decades.flat_map(|d| factors.iter().map(move |f| f * d)).filter(within).collect()
        };
        let fine = of(&[1.0, 2.0, 5.0], 1.0);
        if fine.len() <= 7 {
            return fine;
        }
        of(&[1.0], ((last - first) / 6.0).ceil().max(1.0))
    }
}

fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |span, v| Some(span.map_or((v, v), |(low, high): (f64, f64)| (low.min(v), high.max(v)))))
}

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn places_and_ticks() {
        let s = Scale::linear([-20.0, 4.0].into_iter(), (0.0, 240.0));
        assert_eq!((s.at(-20.0), s.at(0.0), s.at(4.0), s.at(99.0)), (0.0, 200.0, 240.0, 240.0));
        assert_eq!(s.ticks(5.0), [-20.0, -15.0, -10.0, -5.0, 0.0]);
        let l = Scale::logarithmic([50.0, 5000.0].into_iter(), (0.0, 2.0));
        assert!((l.at(500.0) - 1.0).abs() < 1e-9);
        assert_eq!(l.ticks(5.0), [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0]);
    }

    #[test]
    fn no_value_leads_off_the_axis() {
        for values in
            [vec![], vec![f64::NAN], vec![3.0, 3.0], vec![-f64::MAX, f64::MAX], vec![f64::MIN_POSITIVE, f64::MAX]]
        {
            for s in [
                Scale::linear(values.iter().copied(), (10.0, 20.0)),
                Scale::logarithmic(values.iter().copied(), (10.0, 20.0)),
            ] {
                assert!(
                    [0.0, 3.0, -1e300, 1e300, f64::NAN, f64::INFINITY]
                        .iter()
                        .all(|v| (10.0..=20.0).contains(&s.at(*v)))
                );
                assert!(s.ticks(5.0).len() <= 21, "{s:?}");
            }
        }
    }
}
