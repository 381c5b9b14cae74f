//! The live connection: a state machine in plain Rust and a thin shell around the browser's WebSocket.

mod client;
mod frame;
mod handle;
mod machine;

pub(crate) use client::Client;
pub(crate) use handle::Handle;
pub(crate) use machine::Connection;
