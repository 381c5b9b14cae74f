//! The event stream as viewers see it.
//!
//! The hub numbers each event, keeps the state that a snapshot shows, and hands the event to all viewers as one shared
//! text. There is a hub for runs ([`Bench`]) and one for settings ([`Power`]). It never waits for a viewer: a viewer that falls behind loses its place and gets a fresh snapshot.

mod audience;
mod hub;
mod power;
mod state;
mod viewer;

pub use hub::{Hub, Seat, Stream, View};
pub use power::Power;
pub use state::Bench;
pub use viewer::view;
