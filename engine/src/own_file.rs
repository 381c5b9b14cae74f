//! Files of our own, seen from outside.

pub use crate::file::owner::adopt;
use std::path::{Path, PathBuf};

/// Removes files that an earlier process of ours left behind (killed, power loss), as listed in `registry`, unless
/// a living process still uses them or the user asked to keep them. Returns what was removed.
pub fn remove_leftovers(registry: &Path) -> Vec<PathBuf> {
    crate::file::leftovers::remove(registry)
}
