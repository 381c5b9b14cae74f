//! The directory that holds everything of ours: results, locks, the token, the registry of laid-out files.

use engine::own_file::adopt;
use protocol::error::{ErrorBody, ErrorCode};
use std::ffi::OsStr;
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
        let refused = |e: io::Error| refused(path, &e);
        // Directories above it that root makes are for others to pass: the server will not be root.
        if rustix::process::geteuid().is_root()
            && let Some(parent) = path.parent()
        {
            fs::DirBuilder::new().recursive(true).mode(0o755).create(parent).map_err(refused)?;
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(refused)?;
        let found = Self::of(path)?;
        rustix::fs::access(&found.0, rustix::fs::Access::WRITE_OK).map_err(|e| refused(e.into()))?;
        Ok(found)
    }

    /// The directory, if there is one. Nothing is made, and it need not be writable.
    pub fn find(path: impl AsRef<Path>) -> Result<Option<Self>, ErrorBody> {
        let path = path.as_ref();
        match fs::metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(refused(path, &e)),
            Ok(meta) if !meta.is_dir() => Err(refused(path, &io::ErrorKind::NotADirectory.into())),
            Ok(_) => Self::of(path).map(Some),
        }
    }

    /// One that exists. Root follows no link in its place, which somebody else may have put there.
    fn of(path: &Path) -> Result<Self, ErrorBody> {
        let real = |path: &Path| fs::canonicalize(path).map_err(|e| refused(path, &e));
        let found = real(path)?;
        if rustix::process::geteuid().is_root()
            && let Some(name) = path.file_name()
        {
            let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if real(above)?.join(name) != found {
                let what = format!("The state directory {} is a link to {}.", path.display(), found.display());
                return Err(ErrorBody::new(ErrorCode::NotPermitted, what)
                    .hint("If that is what you want, name the directory itself with --state-dir."));
            }
        }
        Ok(Self(found))
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
    /// Names the experiment that goes on when the server comes back.
    pub fn unfinished(&self) -> PathBuf {
        self.0.join("unfinished")
    }
    /// The operator's token.
    pub fn token(&self) -> PathBuf {
        self.0.join("token")
    }
    /// Certificate of our own for viewers on the network, with its key.
    pub fn certificate(&self) -> PathBuf {
        self.0.join("viewers.pem")
    }
    /// Registry of laid-out files, for [`engine::own_file::remove_leftovers`].
    pub fn targets(&self) -> PathBuf {
        self.0.join("targets")
    }
    /// Directory of the journal of settings, which belongs to whoever changes them.
    pub fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }
}

fn refused(path: &Path, e: &io::Error) -> ErrorBody {
    let code = match e.kind() {
        io::ErrorKind::PermissionDenied => ErrorCode::NotPermitted,
        _ => ErrorCode::Usage,
    };
    ErrorBody::new(code, format!("Cannot use the state directory {}: {e}.", path.display()))
        .hint("Name another one with --state-dir.")
}

/// What may lie in a state directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// A file.
    File,
    /// The registry of laid-out files.
    Targets,
    /// The journal of settings.
    Journal,
}

impl Content {
    /// What has this name; `None` for what is not ours.
    pub(crate) fn of(name: &OsStr) -> Option<Self> {
        match name.to_str()? {
            "targets" => Some(Self::Targets),
            "journal" => Some(Self::Journal),
            "run.lock" | "server.lock" | "store.lock" | "token" | "viewers.pem" | "unfinished" => Some(Self::File),
            store => {
                let rest = store.strip_prefix("results.db")?;
                (rest.is_empty() || rest.starts_with(['-', '.'])).then_some(Self::File)
            }
        }
    }
}

/// Opens `path` for reading and writing, making it (0600) if absent. Follows no link; what root makes belongs to the
/// owner of the directory.
pub(crate) fn open_private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(NOFOLLOW);
    let file = options.open(path)?;
    adopt(&file, path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
    Ok(file)
}

/// For `custom_flags`: a link in the place of a file is an error.
pub(crate) const NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

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
