//! Statistics of measurements: pure functions, no I/O, no clock; compiles to wasm too.
//!
//! | module | what |
//! |---|---|
//! | [`summary`] | what a set of repetitions looks like |
//! | [`compare`] | the ratio of two sets of repetitions, with its interval |
//! | [`student`] | quantiles of Student's t distribution |

pub mod compare;
pub mod student;
pub mod summary;

pub use compare::{Comparison, compare};
pub use summary::Summary;
