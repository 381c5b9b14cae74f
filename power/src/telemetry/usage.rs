//! Use of the CPUs, from the `cpuN` lines of `/proc/stat` (proc(5)).

use super::kernel_file::{Budget, KernelFile};
use crate::root::Root;
use std::collections::HashMap;

/// Shares of an interval, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Use {
    pub(super) busy: f64,
    pub(super) irq: f64,
    pub(super) softirq: f64,
}

/// Ticks: user, nice, system, idle, iowait, irq, softirq, steal. Guests' time is part of user and nice.
type Ticks = [u64; 8];

/// Reads the file and keeps what it said last.
#[derive(Debug)]
pub(super) struct Usage {
    file: Option<KernelFile>,
    last: HashMap<u32, Ticks>,
    buffer: Vec<u8>,
}

impl Usage {
    pub(super) fn new(root: &Root, budget: &mut Budget) -> Self {
        let mut usage =
            Self { file: KernelFile::at(root, "/proc/stat", budget), last: HashMap::new(), buffer: Vec::new() };
        usage.sample();
        usage
    }

    /// Of each CPU that was online throughout, since the last call. Empty if nothing has ticked.
    pub(super) fn sample(&mut self) -> HashMap<u32, Use> {
        let Some(text) = self.file.as_ref().and_then(|f| f.text(&mut self.buffer)) else {
            return HashMap::new();
        };
        let now: HashMap<u32, Ticks> = text.lines().take_while(|l| l.starts_with("cpu")).filter_map(parse).collect();
        let of = |(cpu, now): (&u32, &Ticks)| Some((*cpu, shares(self.last.get(cpu)?, now)?));
        let shares = now.iter().filter_map(of).collect();
        self.last = now;
        shares
    }
}

/// `cpu3 10 0 4 900 6 1 2 0 0 0`; `None` for the sum of all, which has no number.
fn parse(line: &str) -> Option<(u32, Ticks)> {
    let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
    let cpu = words.next().filter(|_| !line.starts_with("cpu "))?.parse().ok()?;
    let mut ticks = Ticks::default();
    for (tick, word) in ticks.iter_mut().zip(words) {
        *tick = word.parse().ok()?;
    }
    Some((cpu, ticks))
}

fn shares(last: &Ticks, now: &Ticks) -> Option<Use> {
    // Each column by itself: that of iowait may go backwards.
    let mut passed = Ticks::default();
    for ((passed, now), last) in passed.iter_mut().zip(now).zip(last) {
        *passed = now.saturating_sub(*last);
    }
    let total: u64 = passed.iter().sum();
    let [_, _, _, idle, iowait, irq, softirq, _] = passed;
    let share = |ticks: u64| ticks as f64 / total as f64;
    (total > 0).then(|| Use { busy: share(total - idle - iowait), irq: share(irq), softirq: share(softirq) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_io_is_idle_and_a_column_may_go_back() {
        let (_, last) = parse("cpu3 100 0 50 1000 500 10 20 0 7 0").unwrap();
        let (cpu, now) = parse("cpu3 110 0 55 1060 490 12 23 0 9 0").unwrap();
        assert_eq!(cpu, 3);
        // 10 user + 5 system + 60 idle + 2 irq + 3 softirq.
        assert_eq!(shares(&last, &now), Some(Use { busy: 0.25, irq: 0.025, softirq: 0.0375 }));
        assert_eq!(shares(&now, &now), None, "nothing ticked");
        assert_eq!(parse("cpu  1 2 3 4"), None);
        assert_eq!(parse("cpux 1 2 3 4"), None);
    }
}
