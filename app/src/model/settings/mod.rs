//! The host's settings and what the host does meanwhile: folded from `/ws/power`, grouped, and put into words.

#[cfg(test)]
pub(crate) mod fixture;
mod groups;
mod history;
mod load;
mod report;
mod state;
mod words;

pub(crate) use groups::{Sorted, counts, kind, place, sorted};
pub(crate) use load::{speed, total_watts, use_of_cpus};
pub(crate) use report::{Leftover, leftovers};
pub(crate) use state::{Deed, Moved, Settings};
pub(crate) use words::{changed, foreign, provenance, summary};
