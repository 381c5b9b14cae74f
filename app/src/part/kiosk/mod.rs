//! Elements of the kiosk screen.

mod awake;
mod experiment;
mod measured;
mod screen;

pub(crate) use awake::keep_awake;
pub(crate) use experiment::experiment_panel;
pub(crate) use measured::Measured;
pub(crate) use screen::Screen;
