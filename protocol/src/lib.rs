//! Types that cross a boundary of Brakecheck: engine to server, server to page, program to script.
//!
//! Pure data: no I/O, no clock, no platform. Everything here compiles natively and to wasm, so that the page,
//! the server and the command line agree on one definition of every name and check input by the same rules.
//!
//! | module | what |
//! |---|---|
//! | [`units`] | newtypes for sizes, times and rates, with fio's way of writing them |
//! | [`workload`] | one access pattern and its limits |
//! | [`preset`] | named lists of workloads and how they are scored |
//! | [`plan`] | what a run will do, step by step |
//! | [`sample`], [`result`] | what was measured, live and at the end |
//! | [`host`], [`run`] | the conditions, and the stored record of a run |
//! | [`knob`], [`telemetry`], [`power`] | settings of the host, what it does under them, and their stream |
//! | [`experiment`] | the question an experiment asks, and its answer |
//! | [`kiosk`] | what a kiosk screen shows |
//! | [`event`] | the one linear stream that page, command line and store all consume |
//! | [`error`], [`api`] | errors with exit codes, and the bodies of the HTTP interface |

pub mod api;
pub mod error;
pub mod event;
pub mod experiment;
pub mod host;
pub mod kiosk;
pub mod knob;
pub mod plan;
pub mod power;
pub mod preset;
pub mod result;
pub mod run;
pub mod sample;
pub mod telemetry;
pub mod units;
mod whole;
pub mod workload;

/// The program's version, shown by `--version`, `/healthz` and the page.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Default port of the loopback listener.
pub const DEFAULT_PORT: u16 = 7411;
/// Default port of the listener for viewers on the network.
pub const DEFAULT_LAN_PORT: u16 = 7412;
