//! What the end-to-end tests and the benchmark command stand on: the real program, a real server of it, real
//! filesystems on loop devices, and a real browser. Nothing here is a stand-in.

mod browser;
mod disk;
mod program;
mod server;

pub use browser::{Browser, Scheme, in_browser};
pub use disk::{BlockStat, Disk};
pub use program::{Cli, Finished, give_to_server, program, scratch, send, server_user};
pub use server::Server;
