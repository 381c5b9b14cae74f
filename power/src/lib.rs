//! What the kernel says about the host and its drives.
//!
//! Readers only: each takes a [`Root`], so that all of them work on `/` and, for tests and support archives, on a
//! recorded tree. A file that a kernel does not offer is `None`, never an error: kernels differ.
//!
//! | module | what |
//! |---|---|
//! | [`root`] | reading below a root directory, safely |
//! | [`host`] | the machine, its power settings and the daemons that manage them |
//! | [`drive`] | the drive under a block device, the layers above it and its link |
//! | [`site`] | every place in the kernel that may be written |
//! | [`control`] | knobs: their values and what is written for each |
//! | [`desk`] | how everybody else lists and changes settings |
//! | [`telemetry`] | what the host does while it is watched |
//! | [`cpulist`] | the kernel's way of writing sets of CPUs |

mod catalogue;
pub mod control;
pub mod cpulist;
pub mod desk;
pub mod drive;
pub mod host;
mod mounts;
pub mod name;
pub mod root;
pub mod site;
pub mod telemetry;

pub use root::Root;
