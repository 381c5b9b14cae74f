//! The list of files of our own, kept so that a later start can remove what a killed process left.
//!
//! One entry per data file: a file of the same name in the registry directory. Its first line holds the device and
//! inode numbers, the rest is the path. It is on disk before the data file exists (the inode is then 0), and goes only
//! after it. Whoever uses a data file holds a lock on its entry, and the lock ends with the process.

use super::owner::adopt;
use rustix::fs::{FlockOperation, OFlags, flock};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Names of data files: `brakecheck-` and 16 hex digits and `.dat`.
pub(crate) fn is_own_name(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|n| n.strip_prefix("brakecheck-")?.strip_suffix(".dat"));
    digits.is_some_and(|d| d.len() == 16 && d.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Width of the first line, so that it can be rewritten in place.
const IDENTITY: usize = 42;

fn identity(dev: u64, inode: u64) -> String {
    format!("{dev:020} {inode:020}\n")
}

/// The registry, locked: nobody else makes or removes entries meanwhile.
#[derive(Debug)]
pub(crate) struct Registry {
    path: PathBuf,
    /// Holds the lock.
    dir: File,
}

impl Registry {
    /// Makes the directory if absent, and waits for whoever holds the lock.
    pub(crate) fn lock(path: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        // Root may be at work in a directory that somebody else owns, and follows no link there.
        let flags = OFlags::NOFOLLOW | OFlags::DIRECTORY;
        let dir = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
        adopt(&dir, path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        flock(&dir, FlockOperation::LockExclusive)?;
        Ok(Self { path: path.to_owned(), dir })
    }

    /// Writes the entry for a data file that is about to be made, and uses it.
    pub(crate) fn add(&self, data: &Path) -> io::Result<Entry> {
        let (name, dir) = data.file_name().zip(data.parent()).ok_or(io::ErrorKind::InvalidInput)?;
        let dev = fs::metadata(dir)?.dev();
        let path = self.path.join(name);
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        adopt(&file, &self.path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(&[identity(dev, 0).as_bytes(), data.as_os_str().as_bytes()].concat())?;
        file.sync_all()?;
        self.dir.sync_all()?;
        Ok(Entry { path, file, data: data.to_owned(), dev, inode: 0 })
    }

    /// All entries that nobody uses. Anything else in the directory is left alone.
    pub(crate) fn unused(&self) -> Vec<Entry> {
        let names = fs::read_dir(&self.path).into_iter().flatten().flatten().map(|e| e.file_name());
        names.filter(|name| is_own_name(name)).filter_map(|name| Entry::open(&self.path.join(&name), &name)).collect()
    }
}

/// An entry in use. Dropping it ends the use, not the entry.
#[derive(Debug)]
pub(crate) struct Entry {
    path: PathBuf,
    /// Holds the lock.
    file: File,
    /// The data file.
    pub(crate) data: PathBuf,
    /// Device of the data file's directory.
    pub(crate) dev: u64,
    /// Inode of the data file; 0 if the process died before it could be noted.
    pub(crate) inode: u64,
}

impl Entry {
    fn open(path: &Path, name: &OsStr) -> Option<Self> {
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let mut file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).ok()?;
        let (line, data) = text.split_at_checked(IDENTITY)?;
        let (dev, inode) = std::str::from_utf8(line).ok()?.trim_end().split_once(' ')?;
        let data = PathBuf::from(OsString::from_vec(data.to_vec()));
        let (dev, inode) = (dev.parse().ok()?, inode.parse().ok()?);
        (data.file_name() == Some(name)).then(|| Self { path: path.to_owned(), file, data, dev, inode })
    }

    /// Notes which file it is, now that it exists.
    pub(crate) fn identify(&mut self, dev: u64, inode: u64) -> io::Result<()> {
        (self.dev, self.inode) = (dev, inode);
        self.file.write_all_at(identity(dev, inode).as_bytes(), 0)
    }

    /// Removes the entry; its data file is gone or is to stay.
    pub(crate) fn remove(&self) {
        // An entry that cannot be removed leads to one more look at the next start, no more.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_count() {
        for (name, own) in [
            ("brakecheck-0123456789abcdef.dat", true),
            ("brakecheck-0123456789abcde.dat", false),
            ("brakecheck-0123456789abcdeg.dat", false),
            ("brakecheck-.dat", false),
            ("x.dat", false),
        ] {
            assert_eq!(is_own_name(OsStr::new(name)), own, "{name}");
        }
    }

    #[test]
    fn entries_are_seen_by_others_only_when_unused_and_read_back_whole() {
        let top = tempfile::tempdir().unwrap();
        let registry = Registry::lock(&top.path().join("registry")).unwrap();
        let data = top.path().join(OsString::from_vec(b"brakecheck-0123456789abcdef.dat".to_vec()));
        let mut entry = registry.add(&data).unwrap();
        assert!(registry.unused().is_empty());
        entry.identify(7, 42).unwrap();
        drop(entry);
        let again = registry.unused().pop().unwrap();
        assert_eq!((again.data.as_path(), again.dev, again.inode), (data.as_path(), 7, 42));
        again.remove();
        drop(again);
        assert!(registry.unused().is_empty());
    }
}
