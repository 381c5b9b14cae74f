//! Looking at a target before anything is written, and opening it.

mod check;
pub(crate) mod counters;
pub mod device;
mod direct;
mod inspect;
mod mounts;
pub(crate) mod open;

pub use check::check;
pub use inspect::inspect;
