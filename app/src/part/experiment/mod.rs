//! What is seen of an experiment while it is on.

mod actions;
mod advice;
mod forest;
mod matrix;
mod now;
mod underway;

pub(crate) use actions::Steering;
pub(crate) use advice::Advice;
pub(crate) use forest::Forest;
pub(in crate::part) use forest::{axis, mark, percent, plot};
pub(crate) use matrix::Trials;
pub(crate) use now::Now;
pub(crate) use underway::Underway;
