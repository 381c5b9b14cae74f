//! Limits of the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Allows as many open files as the system lets us: each job of a benchmark holds several, and the usual limit of
/// 1024 is meant for programs that use select(2).
pub fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum
        && let Err(e) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
    {
        tracing::debug!("the limit of open files stays at {current:?}: {e}");
    }
}
