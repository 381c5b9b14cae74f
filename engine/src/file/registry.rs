//! The list of files of our own, kept so that a later start can remove what a killed process left.
//!
//! One entry per file: a file in the registry directory, named like the data file, holding its path. The entry is
//! on disk before the data file exists, and goes only after it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Names of data files: `brakecheck-` and 16 hex digits and `.dat`.
pub(crate) fn is_own_name(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|n| n.strip_prefix("brakecheck-")?.strip_suffix(".dat"));
    digits.is_some_and(|d| d.len() == 16 && d.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// An entry; dropping it does not remove it.
#[derive(Debug)]
pub(crate) struct Entry(PathBuf);

impl Entry {
    /// Writes the entry for a data file that is about to be made.
    pub(crate) fn write(registry: &Path, data: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(registry)?;
        let name = data.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let path = registry.join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(data.as_os_str().as_bytes())?;
        file.sync_all()?;
        File::open(registry)?.sync_all()?;
        Ok(Self(path))
    }

    /// Removes the entry; its data file is gone or is to stay.
    pub(crate) fn remove(&self) {
        // An entry that cannot be removed leads to one more look at the next start, no more.
        let _ = fs::remove_file(&self.0);
    }

    /// All entries with the data files they name. Anything else in the directory is left alone.
    pub(crate) fn all(registry: &Path) -> Vec<(Self, PathBuf)> {
        let entries = fs::read_dir(registry).into_iter().flatten().flatten();
        entries
            .filter(|e| is_own_name(&e.file_name()))
            .filter_map(|e| {
                let data = PathBuf::from(std::ffi::OsString::from_vec(fs::read(e.path()).ok()?));
                (data.file_name() == Some(&e.file_name())).then(|| (Self(e.path()), data))
            })
            .collect()
    }
}
