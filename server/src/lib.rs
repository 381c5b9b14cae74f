//! The `brakecheck` program: command line, result store, runner, HTTP and WebSocket interface.
//!
//! | module | what |
//! |---|---|
//! | [`cli`] | the command line; one file per subcommand |
//! | [`state_dir`], [`lock`] | the directory that holds everything of ours, and who is at work in it |
//! | [`store`] | results, in `SQLite` |
//! | [`privilege`] | root's rights: who has them, and who gives them up |
//! | [`runner`] | the single owner of a run: lock, conditions, engine, store, events |
//! | [`experiment`] | settings changed in random order, measured under each, judged, and put back |
//! | [`report`] | an experiment as a document, and what can be applied of it |
//! | [`scheduler`] | one run at a time in the server, and its queue |
//! | [`settings`] | the host's settings: asked of the desk, told to viewers |
//! | [`live`] | the event stream as viewers see it: hub and WebSocket |
//! | [`http`] | routes, the gate in front of them, the embedded page |
//! | [`lan`], [`mask`] | the listener for viewers on the network, and what they do not get to see |
//! | [`targets`] | places where a run could go |
//! | `terminal` | what a terminal may show of names that others chose |
//! | [`token`] | the operator's credentials |
//! | [`config`], [`toml_file`] | the configuration file, and TOML as people write it |
//! | [`cpus`] | which processors the server keeps off |
//! | [`serve`] | the server's life: listeners, signals, orderly end |

pub mod cli;
pub mod config;
pub mod cpus;
pub mod experiment;
pub mod http;
pub mod kiosk;
pub mod lan;
pub mod limits;
pub mod live;
pub mod lock;
pub mod mask;
pub mod plain;
pub mod privilege;
pub mod report;
pub mod runner;
pub mod scheduler;
pub mod serve;
pub mod settings;
pub mod state_dir;
pub mod store;
pub mod targets;
mod terminal;
pub mod token;
pub mod toml_file;
