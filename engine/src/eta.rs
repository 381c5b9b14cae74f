//! How far a run is, and how long it will still take.

use protocol::plan::RunSpec;

/// Time of a run by its parts. All times in ms.
pub(crate) struct Eta {
    /// Time taken by laying out the file, final once that has ended.
    layout: f64,
    /// Planned time of each step, its pause included.
    steps: Vec<f64>,
}

impl Eta {
    pub(crate) fn new(spec: &RunSpec) -> Self {
        let ms = |us: u64| us as f64 / 1e3;
        let steps = spec.steps.iter().map(|s| ms(s.pause.0.0 + s.workload.duration().0.0)).collect();
        Self { layout: 0.0, steps }
    }

    /// While laying out: done and total bytes, and the time it has taken so far. Gives progress and ETA.
    pub(crate) fn layout(&mut self, done: u64, total: u64, elapsed_ms: f64) -> (f64, f64) {
        let share = done as f64 / total.max(1) as f64;
        // Before the first bytes have landed nothing is known of the speed: half a gigabyte per second is a guess
        // between a slow disk and a fast SSD, and is gone with the next report.
        let whole = if done > 0 { elapsed_ms / share } else { elapsed_ms + total as f64 / 500e3 };
        self.layout = elapsed_ms;
        let steps: f64 = self.steps.iter().sum();
        let left = (whole - elapsed_ms).max(0.0) + steps;
        (elapsed_ms / (elapsed_ms + left).max(1.0), left)
    }

    /// Within step `index`, `into_ms` after it began (its pause included). Gives progress and ETA.
    pub(crate) fn step(&self, index: usize, into_ms: f64) -> (f64, f64) {
        let planned = |steps: &[f64]| steps.iter().sum::<f64>();
        let (before, rest) = self.steps.split_at(index.min(self.steps.len()));
        let (this, after) = rest.split_first().map_or((0.0, 0.0), |(this, after)| (*this, planned(after)));
        let left = (this - into_ms).max(0.0) + after;
        let done = self.layout + planned(before) + into_ms.min(this);
        (done / (done + left).max(1.0), left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::units::Seconds;
    use protocol::workload::{Rw, Workload};

    #[test]
    fn progress_and_eta_add_up() {
        let w =
            Workload { runtime: Seconds::from_secs(4), ramp_time: Seconds::from_secs(1), ..Workload::new(Rw::Read) };
        let mut eta = Eta::new(&RunSpec::of_workloads("/", &[w.clone(), w], 1));
        assert_eq!(eta.layout(500, 1000, 5_000.0), (0.25, 15_000.0));
        eta.layout(1000, 1000, 10_000.0);
        assert_eq!(eta.step(0, 0.0), (0.5, 10_000.0));
        assert_eq!(eta.step(1, 2_500.0), (0.875, 2_500.0));
        assert_eq!(eta.step(1, 9_000.0), (1.0, 0.0));
    }
}
