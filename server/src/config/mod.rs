//! The configuration file of `serve`, in TOML.
//!
//! What the command line says comes first, then the environment, then this file, then the defaults. Paths in it are
//! taken from its own directory on.
//!
//! ```toml
//! port = 7411
//! allow-host = ["bench.example.org"]
//!
//! [lan]
//! address = "192.168.1.5"
//! viewer-password-file = "viewers"
//!
//! [kiosk]
//! show = ["run", "verdict"]
//! dim = "22:00-06:00"
//! ```

mod file;
mod place;

pub use file::{Config, Lan};
