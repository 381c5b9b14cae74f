//! The HTTP and WebSocket interface.
//!
//! Every request passes, in this order: response headers, panic catcher, gate, time limit, body limit, route. There is
//! one gate for HTTP and WebSocket alike, so that the two cannot disagree.
//!
//! There are two listeners: the operator's, and one for viewers on the network, whose routes only show (`api`). Who
//! may ask for what stands in the handlers' arguments (`role`), and what viewers get is masked (`shown`).

pub mod gate;

mod api;
mod app;
mod contrast;
mod error;
mod experiments;
mod exports;
mod headers;
mod import;
mod kiosk;
mod knobs;
mod lan;
mod metrics;
mod page;
mod role;
mod room;
mod runs;
mod session;
mod shown;
mod sockets;
mod system;
mod targets;

pub use api::{openapi, viewers_openapi};
pub use app::{App, router, viewers_router};
pub(crate) use experiments::go_on;
