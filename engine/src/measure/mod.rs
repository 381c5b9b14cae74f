//! Booking completions and making numbers of them.

pub(crate) mod buckets;
pub(crate) mod cpu;
pub(crate) mod meter;
pub(crate) mod recorder;
pub(crate) mod sampler;
pub(crate) mod summary;
