//! Experiments: settings changed in random order, the workloads measured under each, effects judged after each block,
//! and everything put back.
//!
//! An experiment, wherever it was asked for, is a [`Ready`] that is run: it holds the run lock from before the first
//! setting is touched until the last one is back. Every trial is stored when it has ended, so that an experiment goes on
//! where it stood, whatever ended it.
//!
//! | module | what |
//! |---|---|
//! | [`file`] | the experiment as a TOML or JSON file |
//! | [`record`] | what follows from a stored experiment: its plan, what its trials say |
//! | [`contrast`] | experiments side by side |
//! | [`import`] | experiments that were run elsewhere, brought here as files |
//! | `choose` | what is left open, filled in for the host |
//! | `preview` | what would be done, before anything is touched |
//! | `list` | all that are stored |
//! | `ready` | everything that is refused before anything is touched |
//! | `steering` | stop, pause, go on |
//! | [`hand`] | the settings, in this process's hands or through a running server's broker |
//! | `rehearse` | which configurations the kernel takes |
//! | `sweep` | after how long a pause a read gets slow, before the first trial |
//! | `settle` | how long a setting takes to be in force |
//! | `guard` | what makes a trial void; waiting for a quiet machine |
//! | `measure` | one trial |
//! | `blocks` | block after block, until every knob has its verdict |
//! | `conduct` | an experiment from its first event to its report |

mod blocks;
mod choose;
mod conduct;
pub mod contrast;
pub mod file;
mod guard;
pub mod hand;
pub mod import;
mod list;
mod measure;
mod preview;
mod ready;
pub mod record;
mod rehearse;
mod settle;
mod steering;
mod sweep;

use conduct::unrestored;
pub use conduct::{Ended, Limits, export, report};
pub use contrast::contrast;
pub use list::list;
pub use preview::preview;
pub use ready::{Ask, Ready, Take};
pub use record::plan_of;
pub use steering::Steering;
