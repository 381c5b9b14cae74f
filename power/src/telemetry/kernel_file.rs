//! Kernel files that are read again and again.

use crate::root::{Dir, Root};
use rustix::process::{Resource, getrlimit};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// A decimal number of 64 bits and its line end fit.
const NUMBER: usize = 24;

/// How many files may be kept open, which makes reading several times cheaper than opening them each time.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Budget {
    /// Half of what the process may open: the rest of the program needs files too.
    pub(super) fn of_this_process() -> Self {
        Self(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) / 2)
    }

    fn take(&mut self) -> bool {
        let left = self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        left
    }
}

/// One file of sysfs or procfs, whose text is made anew when it is read from its start.
#[derive(Debug)]
pub(super) struct KernelFile {
    path: PathBuf,
    open: Option<File>,
}

impl KernelFile {
    /// A file in a directory; `None` if absent or unreadable.
    pub(super) fn within(dir: &Dir<'_>, name: &str, budget: &mut Budget) -> Option<Self> {
        Self::open(dir.locate(name)?, budget)
    }

    /// A file by its path below the root; `None` if absent or unreadable.
    pub(super) fn at(root: &Root, path: &str, budget: &mut Budget) -> Option<Self> {
        Self::open(root.locate(path)?, budget)
    }

    fn open(path: PathBuf, budget: &mut Budget) -> Option<Self> {
        let file = File::open(&path).ok()?;
        Some(Self { path, open: budget.take().then_some(file) })
    }

    /// The number it holds now; `None` once it is gone or holds something else.
    pub(super) fn number(&self) -> Option<u64> {
        let mut buffer = [0; NUMBER];
        let length = self.read_at(&mut buffer, 0)?;
        std::str::from_utf8(buffer.get(..length)?).ok()?.trim().parse().ok()
    }

    /// Its text now, put into `text`; `None` once it is gone.
    pub(super) fn text<'a>(&self, text: &'a mut Vec<u8>) -> Option<&'a str> {
        /// Longer than `/proc/stat` of any machine.
        const LONGEST: usize = 4 << 20;
        let mut length = 0;
        loop {
            if text.len() < length + 4096 {
                text.resize((2 * text.len()).max(4096), 0);
            }
            match self.read_at(text.get_mut(length..)?, length as u64)? {
                0 => break,
                n => length += n,
            }
            if length > LONGEST {
                return None;
            }
        }
        std::str::from_utf8(text.get(..length)?).ok()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Option<usize> {
        match &self.open {
            Some(file) => file.read_at(buffer, offset).ok(),
            None => File::open(&self.path).ok()?.read_at(buffer, offset).ok(),
        }
    }
}
