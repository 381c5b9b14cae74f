//! Files of our own: made, filled, reused and removed.

pub(crate) mod layout;
pub(crate) mod leftovers;
pub(crate) mod own;
pub(crate) mod owner;
pub(crate) mod random_data;
mod registry;
mod trailer;

pub(crate) use trailer::State;
