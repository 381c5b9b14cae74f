//! What standard error shows while a run is on: one line that is rewritten on a terminal, a line now and then
//! elsewhere.

use super::output::shown;
use protocol::event::Event;
use protocol::plan::RunSpec;
use protocol::sample::{Flow, Phase, Sample};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Nothing.
    Quiet,
    /// Rewrites its line ten times a second.
    Terminal,
    /// Begins each step with a line after one second and says more every ten.
    Lines,
}

/// Follows the events of one run.
#[derive(Debug)]
pub(super) struct Progress {
    style: Style,
    steps: Vec<String>,
    /// When the next line is due.
    due: Instant,
    /// Whether an unfinished line stands on the terminal.
    dirty: bool,
}

impl Progress {
    /// Shows nothing when `quiet`, else what standard error is fit for.
    pub(super) fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|t| t == "dumb");
        let style = match (quiet, std::io::stderr().is_terminal() && !dumb) {
            (true, _) => Style::Quiet,
            (false, true) => Style::Terminal,
            (false, false) => Style::Lines,
        };
        Self { style, steps: Vec::new(), due: Instant::now(), dirty: false }
    }

    /// Takes the next event.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::RunStarted { run } => self.steps = labels(&run.spec),
            Event::Layout { done, total, bw, progress, eta_ms, .. } => {
                let text = format!("laying out the file: {done} of {total}, {:.0} MB/s", bw.mb());
                self.show(&text, *progress, *eta_ms);
            }
            Event::Pause { step, left_ms, progress, eta_ms, .. } => {
                let next = self.steps.get(*step as usize).map_or("", String::as_str);
                self.show(&format!("pausing {:.0} s before {next}", (left_ms / 1e3).ceil()), *progress, *eta_ms);
            }
            Event::WorkloadStarted { .. } if self.style == Style::Lines => {
                self.due = Instant::now() + Duration::from_secs(1);
            }
            Event::Sample { sample, .. } => {
                let label = self.steps.get(sample.step as usize).map_or("", String::as_str);
                self.show(&reading(label, sample), sample.progress, sample.eta_ms);
            }
            Event::Error { error } => self.note(&error.message),
            Event::RunFinished { .. } => self.clear(),
            _ => {}
        }
    }

    /// Says something that is to stay, on a line of its own.
    fn note(&mut self, text: &str) {
        self.clear();
        if self.style != Style::Quiet {
            eprintln!("{}", shown(text));
        }
    }

    fn show(&mut self, text: &str, progress: f64, eta_ms: f64) {
        let now = Instant::now();
        if self.style == Style::Quiet || now < self.due {
            return;
        }
        let line = format!("{text}  {:3.0} %  ETA {}", progress * 100.0, clock(eta_ms));
        if self.style == Style::Lines {
            self.due = now + Duration::from_secs(10);
            eprintln!("{line}");
            return;
        }
        self.due = now + Duration::from_millis(100);
        self.dirty = true;
        // Line wrap is off meanwhile: a line longer than the terminal would otherwise leave its head behind.
        let _ = write!(std::io::stderr(), "\r\x1b[?7l{line}\x1b[K\x1b[?7h");
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.dirty) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// `[2/9] SEQ1M Q8T1 read, pass 2`.
fn labels(spec: &RunSpec) -> Vec<String> {
    let total = spec.steps.len();
    let passes = spec.steps.iter().map(|s| s.repetition).max().unwrap_or(1);
    let label = |(i, step): (usize, &protocol::plan::Step)| {
        let pass = if passes > 1 { format!(", pass {}", step.repetition) } else { String::new() };
        let number = if total > 1 { format!("[{}/{total}] ", i + 1) } else { String::new() };
        format!("{number}{}{pass}", shown(&step.workload.label()))
    };
    spec.steps.iter().enumerate().map(label).collect()
}

fn reading(label: &str, sample: &Sample) -> String {
    let both = |of: fn(&Flow) -> f64| of(&sample.read) + of(&sample.write);
    let (mb, iops) = (both(|f| f.bw.mb()), both(|f| f.iops.0));
    let worst = [&sample.read, &sample.write].into_iter().filter_map(|f| f.lat).map(|l| l.p99_ns).max();
    let p99 = worst.map(|ns| format!("  p99 {:.0} us", ns.micros())).unwrap_or_default();
    let ramp = if sample.phase == Phase::Ramp { " (ramp)" } else { "" };
    format!("{label}{ramp}: {mb:.1} MB/s  {iops:.0} IOPS{p99}")
}

/// `0:07`, `12:30`, `1:00:05`; rounded up, so that it ends at zero and not before.
pub(super) fn clock(ms: f64) -> String {
    let total = Duration::try_from_secs_f64((ms / 1e3).max(0.0)).unwrap_or_default();
    let seconds = total.as_secs() + u64::from(total.subsec_nanos() > 0);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::units::{BytesPerSecond, Iops};
    use protocol::workload::{Rw, Workload};

    #[test]
    fn times_read_as_on_a_clock() {
        let all = [0.0, 6_100.0, 750_000.0, 3_605_000.0, f64::NAN, -5.0].map(clock);
        assert_eq!(all, ["0:00", "0:07", "12:30", "1:00:05", "0:00", "0:00"]);
    }

    #[test]
    fn a_reading_adds_up_both_directions() {
        let flow = |bw, iops| Flow { bw: BytesPerSecond(bw), iops: Iops(iops), ..Flow::default() };
        let sample = Sample { read: flow(70e6, 700.0), write: flow(30e6, 300.0), ..Sample::default() };
        assert_eq!(reading("randrw", &sample), "randrw: 100.0 MB/s  1000 IOPS");
    }

    #[test]
    fn steps_are_counted_and_named() {
        let spec = RunSpec::of_workloads("/mnt", &[Workload::new(Rw::Read)], 2);
        assert_eq!(labels(&spec), ["[1/2] read 4k QD1, pass 1", "[2/2] read 4k QD1, pass 2"]);
    }
}
