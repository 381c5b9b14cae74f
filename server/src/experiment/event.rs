//! What happens during an experiment.

use super::Record;
use protocol::experiment::{Configuration, Effect, Trial};
use protocol::units::Bytes;
use std::time::Duration;

/// What happens, in order.
#[derive(Debug)]
pub enum Event<'a> {
    /// It begins, or goes on after so many trials.
    Begun {
        /// What is run.
        record: &'a Record,
        /// Trials that had ended before.
        trials: usize,
    },
    /// The file is being laid out.
    Layout {
        /// Done so far.
        done: Bytes,
        /// Of how much.
        total: Bytes,
    },
    /// Something that whoever watches ought to know.
    Note(String),
    /// A trial begins.
    Trial {
        /// Its block, from 0.
        block: u32,
        /// Its place in the block, from 0.
        place: usize,
        /// Trials of the block.
        of: usize,
        /// The settings in force.
        configuration: &'a Configuration,
        /// Name of the workload.
        workload: &'a str,
    },
    /// A trial has ended.
    Ended(&'a Trial),
    /// A block has ended: what is known now.
    Block {
        /// Blocks that have ended.
        ended: u32,
        /// Every effect so far.
        effects: Vec<Effect>,
        /// Time still to come.
        left: Left,
    },
}

/// Time that an experiment will still take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// If what is undecided turns out clear.
    pub least: Duration,
    /// By the present estimates.
    pub likely: Duration,
    /// If it stays undecided to the end.
    pub most: Duration,
}
