//! From the question to the configurations that are run, and to what is compared with what.
//!
//! | module | what |
//! |---|---|
//! | [`plan`] | configurations, comparisons, interactions; what cannot be planned on this host, and why |
//! | [`factor`] | a knob between its two values, as this host has it |
//! | `single` | one knob at a time: `one-at-a-time`, `ncq`, `pcie-link`, `power-plan`, `wait-mode` |
//! | `ladder` | rungs: `ladder`, `ab` |
//! | `x58` | the two ladders of 2009 |
//! | `factorial` | all combinations, or a fraction of them |
//! | [`relevant`] | the knobs that can matter for a drive |
//! | [`order`] | the random order of each block |

pub mod factor;
mod factorial;
mod idle;
mod ladder;
pub mod order;
pub mod plan;
pub mod relevant;
mod single;
#[cfg(test)]
mod tests;
mod x58;

pub(crate) use factor::kind;
pub use order::{Open, Slot, block};
pub use plan::{Contrast, Host, Joint, Plan, PlanError, plan};
pub use relevant::relevant;
