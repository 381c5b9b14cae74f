//! Designs of experiments and statistics of measurements: pure functions, no I/O, no clock; compiles to wasm too.
//!
//! | module | what |
//! |---|---|
//! | [`summary`] | what a set of repetitions looks like |
//! | [`compare`] | the ratio of two sets of repetitions, with its interval |
//! | [`student`] | quantiles of Student's t distribution |
//! | [`design`] | which configurations are run and compared, in which order |
//! | [`sequence`] | intervals that hold at every look |
//! | [`location`] | where differences are centred, whatever the outliers |
//! | [`judge`] | effects, and what is concluded of them |
//! | [`analysis`] | all of an experiment's trials, judged |
//! | `stages` | a check's screening and confirmation |
//! | [`forecast`] | how long it will still take |
//! | [`words`], [`advice`] | what was found and what to do about it, in sentences |
//! | [`report`] | all of it together |
//! | [`side_by_side`] | experiments of several drives or hosts, compared |
//! | [`cold`] | after how long a pause a read gets slow |

pub mod advice;
pub mod analysis;
pub mod cold;
pub mod compare;
pub mod design;
pub mod forecast;
pub mod judge;
pub mod location;
pub mod report;
pub mod sequence;
pub mod side_by_side;
mod stages;
pub mod student;
pub mod summary;
pub mod words;

pub use compare::{Comparison, compare};
pub use summary::Summary;
