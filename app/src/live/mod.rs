//! The live connection: a state machine in plain Rust, a thin shell around the browser's WebSocket, and the two streams.

mod client;
mod frame;
mod handle;
mod line;
mod machine;
mod power;
mod power_frame;

pub(crate) use client::Client;
pub(crate) use handle::Handle;
pub(crate) use machine::Connection;
pub(crate) use power::Power;
