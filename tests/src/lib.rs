//! What the end-to-end tests and the benchmark command stand on: the real program, a real server of it, real
//! filesystems on loop devices, and a real browser. Nothing here is a stand-in.

mod brake;
mod browser;
mod disk;
mod drive;
mod follow;
mod process;
mod program;
mod server;
mod tree;
mod truth;

pub use brake::{Brake, Cost};
pub use browser::{Browser, Scheme, in_browser};
pub use disk::{BlockStat, Disk};
pub use drive::{Drive, Pace};
pub use follow::Setting;
pub use process::{PATIENCE, Process, await_that};
pub use program::{Cli, Finished, give_to_server, program, scratch, send, server_user};
pub use server::Server;
pub use tree::Tree;
pub use truth::{Judged, Planted, judge};
