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
//! | [`record`] | what is stored beside the trials; the whole as a file |
//! | [`live`] | an experiment that is on, as viewers see it |
//! | [`request`] | plan preview, list and import, as HTTP has them |
//! | [`side_by_side`] | several experiments compared |

pub mod check;
pub mod keys;
pub mod live;
pub mod metric;
pub mod outcome;
pub mod record;
pub mod request;
pub mod side_by_side;
pub mod spec;
pub mod workloads;

pub use check::SpecError;
pub use live::{ExperimentHead, ExperimentLive, TimeLeft, TrialMark, TrialNow};
pub use metric::Metric;
pub use outcome::{
    Configuration, Effect, ExperimentReport, Finding, Interaction, Recommendation, Stage, Trial, Unmapped, Use,
    VoidTrial,
};
pub use record::{ExperimentFile, ExperimentRecord};
pub use request::{ExperimentSummary, Imported, PlanPreview};
pub use side_by_side::SideBySide;
pub use spec::{Base, Design, ExperimentSpec, Rung};
pub use workloads::WorkloadChoice;
