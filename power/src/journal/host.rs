//! What there is one of on each host, however many state directories: the right to change its settings, and a note in
//! `/run/brakecheck` of where the changed ones are written down.
//!
//! The running machine's right is a lock on a file there; a recorded tree's is one on its own directory. The note of a
//! recorded tree lies in that tree. Where neither can be made, settings are changed and put back without.

use super::error::JournalError;
use super::file::{READ_ONLY, content, flags, private, write_at};
use super::lock::{self, Refused};
use super::{entry::Damage, read};
use crate::root::Root;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, fstat, fsync, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const NOTE: &str = "journal.place";
const NEW_NOTE: &str = "journal.place.new";

/// The right to change settings of a host, and the note.
#[derive(Debug)]
pub(super) struct Host {
    _lock: Option<OwnedFd>,
    tree: Option<OwnedFd>,
    is_live: bool,
    /// Name of the journal, the same in every directory.
    name: String,
    boot: String,
    /// What the note is known to say.
    noted: Option<Place>,
}

/// Where a journal is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    dir: PathBuf,
    /// Device and number of the directory: it may be renamed.
    id: (u64, u64),
    boot: String,
}

/// Whether changed settings of this host are noted to be written down somewhere, as far as this user may know.
pub fn is_noted(root: &Root) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let run = rustix::fs::open(root.path(), flags, Mode::empty()).and_then(|tree| run_dir(&tree, false));
    run.is_ok_and(|run| read_note(&run).is_some())
}

impl Host {
    /// Takes the right, or says who has it.
    pub(super) fn claim(root: &Root, name: &str, boot: &str) -> Result<Self, Refused> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let tree = rustix::fs::open(root.path(), flags, Mode::empty()).ok();
        // Only root may say who may change the machine.
        let tree = tree.filter(|_| !root.is_live() || rustix::process::geteuid().is_root());
        let lock = match &tree {
            Some(tree) if root.is_live() => run_dir(tree, true).map_or(Ok(None), |run| lock::take(run, "live.lock")),
            Some(tree) => tree.try_clone().map_or(Ok(None), |dir| lock::wait_for(&dir, holder).map(|()| Some(dir))),
            None => Ok(None),
        };
        let lock = match lock {
            Err(Refused::Error(_)) => None,
            lock => lock?,
        };
        let noted = tree.as_ref().and_then(|tree| read_note(&run_dir(tree, false).ok()?));
        let host = Self { _lock: lock, is_live: root.is_live(), tree, name: name.into(), boot: boot.into(), noted };
        host.tidy();
        Ok(host)
    }

    /// Removes what a process has left that was killed while it wrote or removed the note.
    fn tidy(&self) {
        if let Some(run) = self.tree.as_ref().and_then(|tree| run_dir(tree, false).ok()) {
            let _ = unlinkat(&run, NEW_NOTE, AtFlags::empty());
            self.clear();
        }
    }

    /// Without a note, a recorded tree is left as it was found.
    fn clear(&self) {
        if let (Some(tree), None, false) = (&self.tree, &self.noted, self.is_live) {
            let _ = unlinkat(tree, "run/brakecheck", AtFlags::REMOVEDIR);
            let _ = unlinkat(tree, "run", AtFlags::REMOVEDIR);
        }
    }

    /// Compares the note with the journal that is being opened in `dir`. Refused if settings are written down
    /// elsewhere; something is lost if they were, and are not any more. `tells` finds changed settings in a journal.
    pub(super) fn lost(
        &self,
        dir: &OwnedFd,
        path: &Path,
        is_new: bool,
        tells: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Damage>, JournalError> {
        let Some(place) = self.noted.as_ref().filter(|p| !read::is_other_boot(&p.boot, &self.boot)) else {
            return Ok(None);
        };
        let is_here = Place::of(dir, path, "").is_some_and(|here| here.id == place.id);
        let is_lost = if is_here {
            is_new
        } else {
            match rustix::fs::open(place.dir.join(&self.name), READ_ONLY, Mode::empty()).and_then(|f| content(&f)) {
                Ok(data) if !tells(&data) => return Ok(None),
                Err(Errno::NOENT | Errno::NOTDIR) => true,
                _ => {
                    let dir = &place.dir;
                    let is_ours = dir.file_name().is_some_and(|name| name == "journal");
                    let state = dir.parent().filter(|_| is_ours).unwrap_or(dir).to_owned();
                    return Err(JournalError::Elsewhere { state });
                }
            }
        };
        let dir = place.dir.display();
        let note = format!("the record of changed settings in {dir} is gone; a reboot puts everything back");
        Ok(is_lost.then_some(Damage { count: 1, note }))
    }

    /// Notes where the journal is, or, where nothing is changed any more, removes the note.
    pub(super) fn note(&mut self, dir: &OwnedFd, is_changed: bool) {
        let path = std::fs::read_link(format!("/proc/self/fd/{}", dir.as_raw_fd())).unwrap_or_default();
        let place = Place::of(dir, &path, &self.boot).filter(|_| is_changed);
        if place == self.noted {
            return;
        }
        let Some(run) = self.tree.as_ref().and_then(|tree| run_dir(tree, true).ok()) else { return };
        let done = match &place {
            Some(place) => write_note(&run, &place.text()),
            None => unlinkat(&run, NOTE, AtFlags::empty()),
        };
        if matches!(done, Ok(()) | Err(Errno::NOENT)) {
            self.noted = place;
        }
        self.clear();
    }
}

impl Place {
    fn of(dir: &OwnedFd, path: &Path, boot: &str) -> Option<Self> {
        let stat = fstat(dir).ok()?;
        Some(Self { dir: path.to_owned(), id: (stat.st_dev, stat.st_ino), boot: boot.into() })
    }

    /// Numbers and boot, then the path, which may hold anything.
    fn text(&self) -> Vec<u8> {
        let (dev, ino) = self.id;
        [format!("{dev} {ino} {}\n", self.boot).as_bytes(), self.dir.as_os_str().as_bytes()].concat()
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let (numbers, path) = text.split_at_checked(text.iter().position(|b| *b == b'\n')?)?;
        let mut words = std::str::from_utf8(numbers).ok()?.splitn(3, ' ');
        let id = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let dir = std::ffi::OsString::from_vec(path.get(1..)?.to_vec()).into();
        Some(Self { dir, id, boot: words.next()?.to_owned() })
    }
}

/// `/run/brakecheck`: this user's own and private. No link is followed: a recorded tree may hold any.
fn run_dir(tree: &OwnedFd, make: bool) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let enter = |at: &OwnedFd, name, mode: u32| {
        if make
            && let Err(errno) = mkdirat(at, name, Mode::from_raw_mode(mode))
            && errno != Errno::EXIST
        {
            return Err(errno);
        }
        openat(at, name, flags, Mode::empty())
    };
    let dir = enter(&enter(tree, "run", 0o755)?, "brakecheck", 0o700)?;
    let stat = fstat(&dir)?;
    let is_open = Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH);
    let is_ours = stat.st_uid == rustix::process::geteuid().as_raw() && !is_open;
    if is_ours { Ok(dir) } else { Err(Errno::PERM) }
}

fn read_note(run: &OwnedFd) -> Option<Place> {
    Place::parse(&content(&openat(run, NOTE, READ_ONLY, Mode::empty()).ok()?).ok()?)
}

fn write_note(run: &OwnedFd, text: &[u8]) -> Result<(), Errno> {
    let file = openat(run, NEW_NOTE, flags() | OFlags::TRUNC, private())?;
    write_at(&file, text, 0)?;
    fsync(&file)?;
    renameat(run, NEW_NOTE, run, NOTE)
}

/// Who has locked this directory, as the kernel lists it; 0 if it does not say.
fn holder(dir: &OwnedFd) -> u32 {
    let Ok(stat) = fstat(dir) else { return 0 };
    let inode = format!(":{}", stat.st_ino);
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let pid = locks.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_flock = words.next() == Some("FLOCK");
        let pid = words.nth(2)?;
        (is_flock && words.next()?.ends_with(&inode)).then(|| pid.parse().ok())?
    });
    pid.unwrap_or(0)
}
