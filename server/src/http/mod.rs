//! The HTTP and WebSocket interface.
//!
//! Every request passes, in this order: response headers, panic catcher, gate, time limit, body limit, route. There is
//! one gate for HTTP and WebSocket alike, so that the two cannot disagree.

pub mod gate;

mod api;
mod app;
mod contrast;
mod error;
mod experiments;
mod exports;
mod headers;
mod import;
mod knobs;
mod lan;
mod metrics;
mod page;
mod role;
mod runs;
mod session;
mod shown;
mod sockets;
mod system;
mod targets;

pub use api::{openapi, viewers_openapi};
pub use app::{App, router, viewers_router};
