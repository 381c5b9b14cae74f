//! A tree of files in memory.

use crate::root::Root;
use std::collections::BTreeMap;
use std::collections::btree_map;

/// Bytes kept of one file; the longest that is read here, a large machine's list of mounts, is a few thousand.
pub(super) const LONGEST_FILE: u64 = 64 << 10;
/// Bytes of all files, and entries: several times what a machine with 500 CPUs has.
const LARGEST: usize = 64 << 20;
const MOST_ENTRIES: usize = 400_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Dir,
    File(Vec<u8>),
    /// Its target, relative.
    Link(String),
}

/// Entries by path, without a slash at the start.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) entries: BTreeMap<String, Entry>,
    bytes: usize,
    /// Whether something did not fit.
    pub(super) truncated: bool,
}

impl Tree {
    /// Puts an entry in its place; the first one stays.
    pub(super) fn put(&mut self, path: &str, entry: Entry) {
        let size = if let Entry::File(data) = &entry { data.len() } else { 0 };
        if self.bytes + size > LARGEST || self.entries.len() >= MOST_ENTRIES {
            self.truncated = true;
            return;
        }
        if let btree_map::Entry::Vacant(vacant) = self.entries.entry(path.trim_start_matches('/').to_owned()) {
            vacant.insert(entry);
            self.bytes += size;
        }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            Entry::File(data) => Some((path.as_str(), data.as_slice())),
            _ => None,
        })
    }

    /// Makes empty directories of those that links lead to and that were not wanted otherwise: that a driver is there
    /// must be seen, not what it has.
    pub(super) fn add_link_targets(&mut self, root: &Root) {
        let links: Vec<String> =
            self.entries.iter().filter(|(_, e)| matches!(e, Entry::Link(_))).map(|(path, _)| path.clone()).collect();
        for path in links {
            if let Some(dir) = root.dir(&path).map(|d| d.path()) {
                self.put(&dir, Entry::Dir);
            }
        }
    }
}
