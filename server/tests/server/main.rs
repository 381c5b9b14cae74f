//! The server as a browser, a script and a hostile page meet it: real listeners, real state directories, real runs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod api;
mod checklist;
mod common;
mod experiments;
mod frames;
mod fuzzed;
mod hostile;
mod import;
mod kiosk;
mod lan;
mod live;
mod mask;
mod page;
mod power;
mod process;
mod queue;
mod roles;
