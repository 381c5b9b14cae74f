//! Where the file is when none is named.

use std::env::var_os;
use std::path::PathBuf;

/// `/etc/brakecheck/config.toml` for root, else `brakecheck/config.toml` of the user's configuration.
pub(super) fn usual() -> Option<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Some("/etc/brakecheck/config.toml".into());
    }
    // The XDG specification has relative values ignored.
    let absolute = |name| var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let configurations = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    Some(configurations?.join("brakecheck/config.toml"))
}
