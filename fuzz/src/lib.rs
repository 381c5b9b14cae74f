//! Entry points for arbitrary bytes. The server's tests run the same ones with a bounded number of mutated examples.

pub mod entries;
pub mod frames;
pub mod server;
