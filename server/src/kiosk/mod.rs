//! Kiosk screens: what one shows, and where it comes from.

mod plan;
mod screens;

pub use plan::Plan;
pub(crate) use screens::screen;
