//! The benchmark engine: targets, workloads, measured loops.
//!
//! A run is one call of [`run::run`] on a thread of the caller's choice. It emits [`protocol::event::Event`]s
//! through a sink in order and returns when the run is over; workers are threads of its own.

mod caveats;
mod clock;
pub mod error;
mod eta;
pub mod facts;
mod file;
mod loops;
mod measure;
pub mod own_file;
pub mod run;
mod step;
pub mod target;

pub use error::EngineError;
pub use run::{Control, Held, Outcome, RunOptions};
