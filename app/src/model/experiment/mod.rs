//! An experiment while it is on: what is known of it, and what is shown of that.

mod forest;
mod matrix;
mod state;
mod stored;
mod words;

#[cfg(test)]
pub(crate) mod fixture;

pub(crate) use forest::{Row, Scale, comparisons};
pub(crate) use matrix::{Cell, Matrix};
pub(crate) use state::Experiment;
pub(crate) use stored::{Stored, USES};
pub(crate) use words::{Held, held, standing};
