//! The directory that holds everything of ours: results, locks, the token, the registry of laid-out files.

use protocol::error::{ErrorBody, ErrorCode};
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// An existing, private (0700) directory.
#[derive(Debug, Clone)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// `/var/lib/brakecheck` as root, else `$XDG_STATE_HOME/brakecheck` or `~/.local/state/brakecheck`.
    pub fn default_path() -> Result<PathBuf, ErrorBody> {
        if rustix::process::geteuid().is_root() {
            return Ok("/var/lib/brakecheck".into());
        }
        // The XDG specification has relative values ignored.
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        absolute("XDG_STATE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
            .map(|state| state.join("brakecheck"))
            .ok_or_else(|| {
                ErrorBody::new(ErrorCode::Usage, "No place for results: neither XDG_STATE_HOME nor HOME is set.")
                    .hint("Name a directory with --state-dir.")
            })
    }

    /// Makes the directory if absent and proves that it can be written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ErrorBody> {
        let path = path.as_ref();
        let refused = |e: &io::Error| {
            let code = match e.kind() {
                io::ErrorKind::PermissionDenied => ErrorCode::NotPermitted,
                _ => ErrorCode::Usage,
            };
            ErrorBody::new(code, format!("Cannot use the state directory {}: {e}.", path.display()))
                .hint("Name another one with --state-dir.")
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|e| refused(&e))?;
        let path = fs::canonicalize(path).map_err(|e| refused(&e))?;
        rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).map_err(|e| refused(&e.into()))?;
        Ok(Self(path))
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }
    /// The result store.
    pub fn database(&self) -> PathBuf {
        self.0.join("results.db")
    }
    /// Held while a run is on.
    pub fn run_lock(&self) -> PathBuf {
        self.0.join("run.lock")
    }
    /// Held while a server lives.
    pub fn server_lock(&self) -> PathBuf {
        self.0.join("server.lock")
    }
    /// Held while the result store is being opened, checked or migrated.
    pub fn store_lock(&self) -> PathBuf {
        self.0.join("store.lock")
    }
    /// The operator's token.
    pub fn token(&self) -> PathBuf {
        self.0.join("token")
    }
    /// Registry of laid-out files, for [`engine::own_file::remove_leftovers`].
    pub fn targets(&self) -> PathBuf {
        self.0.join("targets")
    }
}

/// Opens `path` for reading and writing, making it (0600) if absent.
pub(crate) fn open_private(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_new_directory_is_private() {
        let tmp = tempfile::tempdir().unwrap();
        let state = StateDir::open(tmp.path().join("a/b c")).unwrap();
        let mode = |p: &Path| fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(state.path()), 0o700);
        drop(open_private(&state.token()).unwrap());
        assert_eq!(mode(&state.token()), 0o600);
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let tmp = tempfile::NamedTempFile::new().unwrap();
        let error = StateDir::open(tmp.path()).unwrap_err();
        assert!(error.message.contains(&tmp.path().display().to_string()), "{error}");
        assert_eq!(error.code, ErrorCode::Usage);
    }
}
