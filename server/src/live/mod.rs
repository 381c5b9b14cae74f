//! The event stream as viewers see it.
//!
//! The hub numbers each event, keeps the state that a snapshot shows, and hands the event to all viewers as one shared
//! text. It never waits for a viewer: a viewer that falls behind loses its place and gets a fresh snapshot.

mod hub;
mod state;
mod viewer;

pub use hub::{Hub, View};
pub use viewer::view;
