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
//! | [`cpulist`] | the kernel's way of writing sets of CPUs |

pub mod cpulist;
pub mod drive;
pub mod host;
mod mounts;
pub mod root;

pub use root::Root;
