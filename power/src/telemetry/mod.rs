//! What the host does while it is watched: residency, frequency, watts, temperatures.
//!
//! A [`Sampler`] belongs to one watcher's thread. Watching must not change what is watched, so
//! - the counters of CPUs, which live in memory, are read in each sample, through files that are kept open;
//! - what costs firmware or another CPU something (batteries, temperatures, throttling) is read once a second, and of
//!   the processor's sensors only those of the whole package, since reading a core's wakes that core;
//! - what costs a drive something (its own sensors, its end of the link) is read every ten seconds, and only while that
//!   is allowed: a drive that is asked for its temperature does not sleep.

mod cpus;
mod energy;
mod frequency;
mod idle;
mod kernel_file;
mod meters;
mod pressure;
mod sampler;
mod sensors;
mod supply;
mod throttle;
mod usage;

pub use meters::meters;
pub use sampler::{Options, Sampler};
