//! What the kernel says about the host and its drives, and the host's settings: listed, changed, put back.
//!
//! Each part takes a [`Root`], so that all of them work on `/` and, for tests and support archives, on a
//! recorded tree. A file that a kernel does not offer is `None`, never an error: kernels differ.
//!
//! | module | what |
//! |---|---|
//! | [`root`] | reading below a root directory, safely |
//! | [`host`] | the machine, its power settings and the daemons that manage them |
//! | [`heat`] | how warm processor and drive are, against what they bear |
//! | [`drive`] | the drive under a block device, the layers above it and its link |
//! | [`site`] | every place in the kernel that may be written |
//! | [`control`] | knobs: their values and what is written for each |
//! | [`recipe`] | what would set a knob, without looking at a host |
//! | [`kernel`] | reading and writing one such place |
//! | [`nvme`] | what an NVMe controller itself says and takes |
//! | [`profile_daemon`] | the daemon that owns the platform's profile |
//! | [`journal`] | the record on disk of what was changed, written before it is |
//! | [`keeper`] | the one who changes settings and puts them back |
//! | [`broker`] | the privileged process behind a desk |
//! | [`desk`] | how everybody else lists and changes settings |
//! | [`telemetry`] | what the host does while it is watched |
//! | [`archive`] | what the kernel says about a machine, to be sent to somebody |
//! | [`cpulist`] | the kernel's way of writing sets of CPUs |

pub mod archive;
pub mod broker;
mod catalogue;
pub mod control;
pub mod cpulist;
pub mod desk;
pub mod drive;
pub mod heat;
pub mod host;
mod in_use;
pub mod journal;
pub mod keeper;
pub mod kernel;
mod look;
mod mounts;
pub mod name;
pub mod nvme;
pub mod profile_daemon;
pub mod recipe;
pub mod root;
pub mod site;
pub mod telemetry;

pub use root::Root;
