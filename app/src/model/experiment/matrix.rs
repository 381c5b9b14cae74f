//! Which trials have run: blocks across, configurations down, a cell for each workload.

use protocol::experiment::workloads::IDLE;
use protocol::experiment::{ExperimentLive, TrialMark};

/// How a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Not run, or not run in this block.
    Empty,
    /// On.
    Running,
    /// It counts.
    Counts,
    /// It counts, after one that did not.
    Repeated,
    /// It does not count.
    Void,
}

/// The trials of an experiment by their place.
#[derive(Debug, Clone)]
pub(crate) struct Matrix<'a> {
    live: &'a ExperimentLive,
    /// The rows of each configuration.
    pub(crate) workloads: Vec<&'a str>,
    /// Blocks that have begun.
    pub(crate) blocks: u32,
}

impl<'a> Matrix<'a> {
    /// The matrix of now.
    pub(crate) fn of(live: &'a ExperimentLive) -> Self {
        let mut workloads: Vec<&str> = live.head.workloads.iter().map(String::as_str).collect();
        if live.trials.iter().any(|t| t.workload == IDLE) && !workloads.contains(&IDLE) {
            workloads.push(IDLE);
        }
        let begun = live.trials.iter().map(|t| t.block).chain(live.trial.iter().map(|t| t.block)).max();
        Self { live, workloads, blocks: begun.map_or(0, |b| b + 1) }
    }

    /// Names of the configurations.
    pub(crate) fn configurations(&self) -> impl Iterator<Item = &'a str> {
        self.live.head.configurations.iter().map(|c| c.name.as_str())
    }

    /// Trials of a cell, in the order they ran.
    fn trials(&self, block: u32, configuration: u32, workload: usize) -> impl Iterator<Item = &'a TrialMark> {
        let workload = self.workloads.get(workload).copied().unwrap_or_default();
        let own =
            move |t: &&TrialMark| (t.block, t.configuration, t.workload.as_str()) == (block, configuration, workload);
        self.live.trials.iter().filter(own)
    }

    /// How a cell stands.
    pub(crate) fn cell(&self, block: u32, configuration: u32, workload: usize) -> Cell {
        let name = self.workloads.get(workload).copied();
        let now = self.live.trial.as_ref();
        if now.is_some_and(|t| (t.block, t.configuration, Some(t.workload.as_str())) == (block, configuration, name)) {
            return Cell::Running;
        }
        let (mut counts, mut void) = (false, false);
        for trial in self.trials(block, configuration, workload) {
            *(if trial.void.is_some() { &mut void } else { &mut counts }) = true;
        }
        match (counts, void) {
            (true, false) => Cell::Counts,
            (true, true) => Cell::Repeated,
            (false, true) => Cell::Void,
            (false, false) => Cell::Empty,
        }
    }

    /// A cell in words.
    pub(crate) fn words(&self, block: u32, configuration: u32, workload: usize) -> Option<String> {
        let name = &self.live.head.configurations.get(configuration as usize)?.name;
        let reasons: Vec<&str> =
            self.trials(block, configuration, workload).filter_map(|t| t.void.as_deref()).collect();
        let reasons = reasons.join("; ");
        let state = match self.cell(block, configuration, workload) {
            Cell::Empty => "not run".into(),
            Cell::Running if reasons.is_empty() => "on now".into(),
            Cell::Running => format!("repeated now, since the one before does not count: {reasons}"),
            Cell::Counts => "counts".into(),
            Cell::Repeated => format!("repeated, since the one before did not count: {reasons}"),
            Cell::Void => format!("does not count: {reasons}"),
        };
        Some(format!("Block {}, {name}, {}: {state}", block + 1, self.workloads.get(workload)?))
    }

    /// The trials that do not count, in words.
    pub(crate) fn void(&self) -> Vec<String> {
        let line = |t: &TrialMark| {
            let name = &self.live.head.configurations.get(t.configuration as usize)?.name;
            Some(format!("Block {}, {name}, {}: {}", t.block + 1, t.workload, t.void.as_ref()?))
        };
        self.live.trials.iter().filter_map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{WORKLOADS, live, mark};
    use super::*;

    #[test]
    fn each_cell_says_whether_it_counts() {
        let mut live = live();
        live.trials.push(mark(6, 1, 0, IDLE, None));
        let m = Matrix::of(&live);
        assert_eq!((m.blocks, m.workloads.as_slice()), (2, &[WORKLOADS[0], WORKLOADS[1], IDLE][..]));
        assert_eq!(m.cell(0, 0, 0), Cell::Counts);
        assert_eq!(m.cell(0, 1, 0), Cell::Repeated);
        assert_eq!(m.cell(0, 1, 1), Cell::Void);
        assert_eq!(m.cell(1, 0, 0), Cell::Running);
        assert_eq!((m.cell(1, 0, 1), m.cell(1, 0, 2)), (Cell::Empty, Cell::Counts));
    }

    #[test]
    fn what_does_not_count_says_why() {
        let live = live();
        let m = Matrix::of(&live);
        assert_eq!(m.words(0, 1, 1).unwrap(), "Block 1, cpu.turbo=off, seq1m-qd1: does not count: I/O error");
        assert!(m.words(0, 1, 0).unwrap().contains("cpu.turbo was changed by somebody else"));
        assert_eq!(m.void().len(), 2);
        assert_eq!(m.words(0, 9, 0), None);
    }
}
