//! The `brakecheck` program: command line, result store, runner, HTTP and WebSocket interface.
//!
//! | module | what |
//! |---|---|
//! | [`cli`] | the command line; one file per subcommand |
//! | [`state_dir`], [`lock`] | the directory that holds everything of ours, and who is at work in it |
//! | [`store`] | results, in `SQLite` |
//! | [`runner`] | the single owner of a run: lock, conditions, engine, store, events |

pub mod cli;
pub mod lock;
pub mod runner;
pub mod state_dir;
pub mod store;
