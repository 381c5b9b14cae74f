//! Experiments: the question as it is asked (a TOML file or the page's form), and the answer as it is given.
//!
//! | module | what |
//! |---|---|
//! | [`spec`] | the experiment file: design, workloads, knobs or rungs, when to stop |
//! | [`check`] | what is wrong with it, as far as that can be said without a host |
//! | [`keys`] | unknown keys and names, with the nearest right one |
//! | [`workloads`] | the workloads that go by a name |
//! | [`metric`] | what is compared, and which way is better |
//! | [`outcome`] | effects, trials, recommendations: what `--json` prints |

pub mod check;
pub mod keys;
pub mod metric;
pub mod outcome;
pub mod spec;
pub mod workloads;

pub use check::SpecError;
pub use metric::Metric;
pub use outcome::{
    Configuration, Effect, ExperimentReport, Finding, Interaction, Recommendation, Trial, Unmapped, Use, VoidTrial,
};
pub use spec::{Base, Design, ExperimentSpec, Rung};
pub use workloads::WorkloadChoice;
