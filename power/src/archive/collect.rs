//! Reading a machine into a [`Tree`].

use super::tree::{Entry, LONGEST_FILE, Tree};
use super::{cut, places};
use crate::host;
use crate::root::{Dir, Root};
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Deeper than sysfs goes below any of the places.
const DEEPEST: u32 = 8;

/// Everything that is of interest.
pub(super) fn machine(root: &Root) -> Tree {
    let mut collector = Collector { root, tree: Tree::default(), seen: BTreeSet::new() };
    for path in places::FILES {
        collector.file(path);
    }
    for path in places::NAMES {
        collector.names(path);
    }
    for path in places::TREES {
        collector.tree(path, DEEPEST);
    }
    for path in places::DEVICES {
        collector.devices(path);
    }
    collector.limit();
    collector.daemons();
    collector.tree
}

struct Collector<'a> {
    root: &'a Root,
    tree: Tree,
    /// Directories that were read.
    seen: BTreeSet<String>,
}

/// What is at a path, links not followed.
enum Found {
    Dir,
    File,
    Link(String),
}

impl Collector<'_> {
    /// What is at a path that may be taken.
    fn look(&self, path: &str) -> Option<Found> {
        let place = self.root.place(path);
        let meta = fs::symlink_metadata(&place).ok()?;
        if meta.is_dir() {
            return Some(Found::Dir);
        }
        if meta.is_symlink() {
            // sysfs has relative links only; others would lead out of the archive.
            let target = fs::read_link(&place).ok()?.into_os_string().into_string().ok()?;
            return (!target.starts_with('/')).then_some(Found::Link(target));
        }
        may_be_read(&meta).then_some(Found::File)
    }

    /// One file at its path, with links on the way followed: `/proc/self` and `/etc/os-release` are links.
    fn file(&mut self, path: &str) {
        let Some(place) = self.root.locate(path) else { return };
        if fs::metadata(&place).is_ok_and(|m| may_be_read(&m))
            && let Some(data) = read(&place)
        {
            self.tree.put(path, Entry::File(cut::to_what_is_needed(path, data)));
        }
    }

    /// A directory and those of the names in it that matter.
    fn names(&mut self, path: &str) {
        let Some(dir) = self.root.dir(path) else { return };
        self.tree.put(path, Entry::Dir);
        for name in dir.names().iter().filter(|n| places::NOTED.contains(&n.as_str())) {
            self.tree.put(&format!("{path}/{name}"), Entry::File(Vec::new()));
        }
    }

    /// Everything below a directory.
    fn tree(&mut self, path: &str, depth: u32) {
        let Some(dir) = self.root.dir(path).filter(|_| depth > 0) else { return };
        self.tree.put(path, Entry::Dir);
        for name in dir.names() {
            match self.entry(path, &name) {
                Some(below) if !places::SKIPPED_DIRS.contains(&name.as_str()) => self.tree(&below, depth - 1),
                _ => {}
            }
        }
    }

    /// A directory of links to devices, and the devices. In an archive, or below an older kernel, they may be no links.
    fn devices(&mut self, path: &str) {
        let Some(dir) = self.root.dir(path) else { return };
        self.tree.put(path, Entry::Dir);
        for name in dir.names() {
            self.entry(path, &name);
            if let Some(device) = dir.enter(&name) {
                self.device(&device);
            }
        }
    }

    /// A device with its parents: ports, controllers, hubs.
    fn device(&mut self, device: &Dir<'_>) {
        for dir in device.ancestors() {
            let path = dir.path();
            if matches!(path.as_str(), "/" | "/sys" | "/sys/devices" | "/sys/class") || !self.seen.insert(path.clone())
            {
                break;
            }
            self.tree.put(&path, Entry::Dir);
            for name in dir.names().iter().filter(|n| is_wanted(&dir, n)) {
                if let Some(below) = self.entry(&path, name)
                    && places::is_within_device(name)
                {
                    self.tree(&below, 2);
                }
            }
        }
    }

    /// Takes a file or a link in a directory; the path of a directory is given back.
    fn entry(&mut self, dir: &str, name: &str) -> Option<String> {
        let path = format!("{dir}/{name}");
        match self.look(&path)? {
            Found::Dir => return Some(path),
            Found::Link(target) => self.tree.put(&path, Entry::Link(target)),
            Found::File if places::is_skipped(name) => {}
            Found::File => {
                if let Some(data) = read(&self.root.place(&path)) {
                    self.tree.put(&path, Entry::File(data));
                }
            }
        }
        None
    }

    /// The one device that is read: opened like this, it limits nothing.
    fn limit(&mut self) {
        if let Some(Ok(data)) = self.root.look(places::LIMIT).map(|look| look.data) {
            self.tree.put(places::LIMIT, Entry::File(data));
        }
    }

    /// Names of the processes that change settings; what else runs is nobody's business.
    fn daemons(&mut self) {
        let pids = self.root.dir("/proc").map(|d| d.names()).unwrap_or_default();
        for pid in pids.iter().filter(|n| n.bytes().all(|b| b.is_ascii_digit())) {
            let path = format!("/proc/{pid}/comm");
            if self.root.read(&path).is_some_and(|name| host::is_daemon(&name)) {
                self.file(&path);
            }
        }
    }
}

/// Of devices with much that is not of interest, what is.
fn is_wanted(dir: &Dir<'_>, name: &str) -> bool {
    let path = dir.path();
    if path.starts_with("/sys/devices/virtual/dmi") || path.starts_with("/sys/class/dmi") {
        return places::OF_DMI.contains(&name);
    }
    if path.starts_with("/sys/devices/system/node") {
        return places::OF_NODE.contains(&name);
    }
    !crate::drive::is_pci_address(dir.name()) || places::is_within_device(name) || places::OF_PCI.contains(&name)
}

/// Regular, and readable for somebody: what is only written to does something when it is touched.
fn may_be_read(meta: &Metadata) -> bool {
    meta.is_file() && meta.permissions().mode() & 0o444 != 0
}

/// The beginning of a file. What cannot be read is absent.
fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let mut data = Vec::new();
    file.take(LONGEST_FILE).read_to_end(&mut data).ok()?;
    Some(data)
}
