//! After how long a pause a read gets slow.

/// Where in a sweep of idle gaps reads get slow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Onset {
    /// The gap in s from which on reads are slow.
    pub gap: f64,
    /// How many times as long they take as after the shortest gap.
    pub ratio: f64,
}

/// A read that takes this many times as long is slow: well beyond what repeated sweeps differ by.
const SLOW: f64 = 1.25;

/// The first gap from which on every read is slow, compared with the shortest one; `None` if there is none. Points are
/// pairs of the gap in s and the median latency after it, in any order and unit.
pub fn onset(points: &[(f64, f64)]) -> Option<Onset> {
    let good = |p: &&(f64, f64)| p.0.is_finite() && p.1.is_finite() && p.1 > 0.0;
    let mut sorted: Vec<_> = points.iter().filter(good).copied().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, first) = *sorted.first()?;
    let slow = sorted.iter().rev().take_while(|(_, latency)| latency / first >= SLOW);
    slow.last().map(|&(gap, latency)| Onset { gap, ratio: latency / first })
}

/// The gap at which an experiment should read: where reads get slow by the largest step, so that whatever sleeps there is
/// asleep. One of at most `affordable` s if reads get slow there already, since each read waits so long. `None` if they
/// never do.
pub fn telling_gap(points: &[(f64, f64)], affordable: f64) -> Option<f64> {
    let mut sorted: Vec<_> =
        points.iter().filter(|p| p.0.is_finite() && p.1.is_finite() && p.1 > 0.0).copied().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let steps = || {
        let step = |w: &[(f64, f64)]| match w {
            [(_, before), (gap, after)] => Some((after / before, *gap)),
            _ => None,
        };
        sorted.windows(2).filter_map(step).filter(|(ratio, _)| *ratio >= SLOW)
    };
    let largest = |a: (f64, f64), b: (f64, f64)| if b.0 > a.0 { b } else { a };
    steps()
        .filter(|(_, gap)| *gap <= affordable)
        .reduce(largest)
        .or_else(|| steps().reduce(largest))
        .map(|(_, gap)| gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_onset_is_where_it_stays_slow() {
        let sweep = [(0.001, 80.0), (0.01, 85.0), (0.2, 180.0), (1.0, 190.0), (3.0, 9000.0)];
        let at = onset(&sweep).unwrap();
        assert!((at.gap - 0.2).abs() < 1e-12 && (at.ratio - 2.25).abs() < 1e-12);
        assert_eq!((telling_gap(&sweep, 3.0), telling_gap(&sweep, 0.5)), (Some(3.0), Some(0.2)));
        assert_eq!(telling_gap(&[(0.001, 80.0), (0.2, 82.0), (1.0, 990.0)], 0.5), Some(1.0));
        let once = [(0.001, 80.0), (0.01, 200.0), (0.2, 81.0)];
        assert_eq!(onset(&once), None);
        assert_eq!(telling_gap(&[(0.001, 80.0), (1.0, 82.0)], 0.5), None);
        assert_eq!((onset(&[]), telling_gap(&[(1.0, f64::NAN)], 1.0)), (None, None));
    }
}
