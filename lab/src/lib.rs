//! Designs of experiments and statistics of measurements: pure functions, no I/O, no clock; compiles to wasm too.
//!
//! | module | what |
//! |---|---|
//! | [`summary`] | what a set of repetitions looks like |
//! | [`compare`] | the ratio of two sets of repetitions, with its interval |
//! | [`student`] | quantiles of Student's t distribution |
//! | [`sequence`] | intervals that hold at every look |
//! | [`location`] | where differences are centred, whatever the outliers |
//! | [`judge`] | effects, and what is concluded of them |

pub mod compare;
pub mod judge;
pub mod location;
pub mod sequence;
pub mod student;
pub mod summary;

pub use compare::{Comparison, compare};
pub use summary::Summary;
