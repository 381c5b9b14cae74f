//! Reading below a root directory.

use crate::look::Look;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// No kernel file that is read here comes near this; a hostile recorded tree might.
const MAX_FILE: u64 = 4 << 20;

/// Where `/sys`, `/proc` and `/run` are looked for: `/`, or the directory of a recorded machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Self {
        Self(PathBuf::from("/"))
    }
}

impl Root {
    /// The tree below `dir`. Fails if `dir` cannot be resolved or is no directory.
    pub fn new(dir: impl AsRef<Path>) -> io::Result<Self> {
        let path = fs::canonicalize(dir)?;
        if path.is_dir() { Ok(Self(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// Whether this is the running machine rather than a recorded one.
    pub fn is_live(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// The directory itself, without links.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The directory at this absolute path, links followed; `None` if there is none or it lies outside the root.
    pub fn dir(&self, path: &str) -> Option<Dir<'_>> {
        self.resolve(path).filter(|p| p.is_dir()).map(|path| Dir { root: self, path })
    }

    /// The text of a file, without white space at its ends; `None` if absent, unreadable or empty.
    pub fn read(&self, path: &str) -> Option<String> {
        text(&self.resolve(path)?)
    }

    /// A file with what its reading says of it; `None` if there is none. On the running machine also a device that
    /// answers at once, such as `/dev/cpu_dma_latency`.
    pub(crate) fn look(&self, path: &str) -> Option<Look> {
        Look::at(&self.resolve(path)?, self.is_live(), MAX_FILE)
    }

    /// Whether anything is at this path.
    pub fn exists(&self, path: &str) -> bool {
        self.resolve(path).is_some()
    }

    /// Last component of the path with links followed: the kernel name behind `/dev/mapper/home`.
    pub fn resolved_name(&self, path: &str) -> Option<String> {
        Some(self.resolve(path)?.file_name()?.to_string_lossy().into_owned())
    }

    /// Where a path below the root lies on this machine, links not followed.
    pub(crate) fn place(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// Where a file lies on this machine, links followed, to be opened by whoever reads it again and again; `None` if
    /// it is absent, outside the root, or no regular file.
    pub(crate) fn locate(&self, path: &str) -> Option<PathBuf> {
        self.resolve(path).filter(|p| p.is_file())
    }

    fn resolve(&self, path: &str) -> Option<PathBuf> {
        let path = fs::canonicalize(self.0.join(path.trim_start_matches('/'))).ok()?;
        path.starts_with(&self.0).then_some(path)
    }
}

/// A directory below a [`Root`], with links followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dir<'a> {
    root: &'a Root,
    path: PathBuf,
}

impl<'a> Dir<'a> {
    /// Its last component.
    pub fn name(&self) -> &str {
        self.path.file_name().and_then(|n| n.to_str()).unwrap_or_default()
    }

    /// The root it was found under.
    pub fn root(&self) -> &'a Root {
        self.root
    }

    /// Its path as seen from the root: `/sys/devices/...`.
    pub fn path(&self) -> String {
        let below = self.path.strip_prefix(&self.root.0).unwrap_or(&self.path);
        format!("/{}", below.display())
    }

    /// Where a file in it lies on this machine, as [`Root::locate`].
    pub(crate) fn locate(&self, name: &str) -> Option<PathBuf> {
        Some(self.path.join(name)).filter(|p| p.is_file())
    }

    /// The text of a file in it, as [`Root::read`].
    pub fn read(&self, name: &str) -> Option<String> {
        text(&self.path.join(name))
    }

    /// A file in it, as [`Root::look`].
    pub(crate) fn look(&self, name: &str) -> Option<Look> {
        Look::at(&self.path.join(name), false, MAX_FILE)
    }

    /// A file in it that holds one number (or anything else that parses).
    pub fn parse<T: FromStr>(&self, name: &str) -> Option<T> {
        self.read(name)?.parse().ok()
    }

    /// A binary file in it.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        bytes(&self.path.join(name))
    }

    /// Names in it, so sorted that `cpu2` comes before `cpu10`; empty if it cannot be listed.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        names
    }

    /// A directory in it, links followed.
    pub fn enter(&self, name: &str) -> Option<Self> {
        // Most are plain directories just below, and need no resolving, which looks at each part of the path.
        let below = self.path.join(name);
        if !name.contains(['/', '.']) && fs::symlink_metadata(&below).is_ok_and(|m| m.is_dir()) {
            return Some(Self { root: self.root, path: below });
        }
        let path = fs::canonicalize(below).ok()?;
        (path.starts_with(&self.root.0) && path.is_dir()).then_some(Self { root: self.root, path })
    }

    /// Directories in it whose names begin like this and go on with a digit: `hwmon` finds `hwmon3`.
    pub fn numbered(&self, prefix: &str) -> Vec<Self> {
        let wanted =
            |n: &str| n.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        self.names().iter().filter(|n| wanted(n)).filter_map(|n| self.enter(n)).collect()
    }

    /// Itself, its parent and so on up to the root.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        let inside = self.path.ancestors().take_while(|p| p.starts_with(&self.root.0));
        inside.map(|p| Self { root: self.root, path: p.to_owned() }).collect::<Vec<_>>().into_iter()
    }
}

fn bytes(path: &Path) -> Option<Vec<u8>> {
    Look::at(path, false, MAX_FILE)?.data.ok()
}

fn text(path: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&bytes(path)?).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned();
    (!text.is_empty()).then_some(text)
}

/// The chosen one of `[default] performance powersave`.
pub(crate) fn bracketed(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(chosen, _)| chosen.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_root_lead_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sys")).unwrap();
        std::os::unix::fs::symlink("/etc", dir.path().join("sys/out")).unwrap();
        let root = Root::new(dir.path()).unwrap();
        assert!(root.dir("/sys").is_some());
        assert_eq!((root.dir("/sys/out"), root.read("/sys/out/passwd")), (None, None));
        assert_eq!(root.dir("/sys").unwrap().enter("out"), None);
        assert_eq!(root.read("/../../../etc/passwd"), None);
    }

    #[test]
    fn a_root_must_be_a_directory() {
        assert!(Root::new("/nonexistent").is_err());
        assert!(Root::new("/proc/version").is_err());
    }

    #[test]
    fn the_bracketed_word_is_the_chosen_one() {
        assert_eq!(bracketed("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
        assert_eq!(bracketed("none"), None);
    }
}
