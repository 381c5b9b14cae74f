//! The measured loops: one job's accesses from first to last, by ring, by tokio-uring tasks, or by threads.

pub(crate) mod buffers;
pub(crate) mod epoll;
pub(crate) mod job;
pub(crate) mod offsets;
pub(crate) mod ring;
pub(crate) mod slots;
pub(crate) mod threads;
pub(crate) mod uring;
pub(crate) mod worker;
