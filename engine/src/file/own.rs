//! A file of our own: made so that it can be nobody else's, and removed whatever happens.

use super::registry::{Entry, Registry, is_own_name};
use super::trailer::{self, State, Trailer};
use crate::target::open::open_quietly;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::units::Bytes;
use rustix::fs::{FallocateFlags, FlockOperation, IFlags, fallocate, flock, ioctl_getflags, ioctl_setflags};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file of our own, locked by this process. Removed when dropped unless kept.
#[derive(Debug)]
pub(crate) struct OwnFile {
    path: PathBuf,
    /// Through the page cache; holds the lock.
    file: File,
    trailer: Trailer,
    entry: Option<Entry>,
    pub(crate) reused: bool,
}

impl OwnFile {
    /// Reuses a full file of this size that an earlier run left in `dir`, if there is one nobody uses.
    pub(crate) fn reuse(dir: &Path, size: u64, registry: &Path) -> Option<Self> {
        candidates(dir).into_iter().find_map(|path| {
            let (file, trailer) = open_unused(&path, size)?;
            // From now on it is this run's to remove.
            let entry = enter(registry, &path, &file).ok()?;
            let mut own = Self { path, file, trailer, entry: Some(entry), reused: true };
            own.mark(State::Full).ok()?;
            Some(own)
        })
    }

    /// Whether [`Self::reuse`] would find one.
    pub(crate) fn reusable(dir: &Path, size: u64) -> bool {
        candidates(dir).iter().any(|path| open_unused(path, size).is_some())
    }

    /// Makes a new one with room for `size` bytes, not yet filled.
    pub(crate) fn create(dir: &Path, size: u64, seed: u64, registry: &Path) -> Result<Self, ErrorBody> {
        let path = dir.join(format!("brakecheck-{seed:016x}.dat"));
        let entry = Registry::lock(registry).and_then(|r| r.add(&path)).map_err(|e| {
            let what = format!("Cannot note the test file in {}: {e}.", registry.display());
            ErrorBody::new(ErrorCode::Internal, what).hint("Choose another place with --state-dir.")
        })?;
        let made = open_quietly(OpenOptions::new().read(true).write(true).create_new(true).mode(0o600), 0, &path);
        let file = match made {
            Ok(file) => file,
            Err(e) => {
                entry.remove();
                return Err(cannot_write(dir, &e));
            }
        };
        let mut own = Self {
            path,
            file,
            trailer: Trailer { size, seed, state: State::Filling },
            entry: Some(entry),
            reused: false,
        };
        own.prepare().map_err(|e| no_room(dir, size, &e))?;
        Ok(own)
    }

    fn prepare(&mut self) -> io::Result<()> {
        let meta = self.file.metadata()?;
        if let Some(entry) = &mut self.entry {
            entry.identify(meta.dev(), meta.ino())?;
        }
        flock(&self.file, FlockOperation::NonBlockingLockExclusive)?;
        // btrfs would copy every block on write and check-sum it, and then not write directly. Other filesystems
        // know no such flag, which is just as well.
        if let Ok(flags) = ioctl_getflags(&self.file) {
            let _ = ioctl_setflags(&self.file, flags | IFlags::NOCOW);
        }
        let len = self.trailer.size + trailer::LEN as u64;
        // Room in one piece where the filesystem can; where it cannot, filling makes the room.
        match fallocate(&self.file, FallocateFlags::empty(), 0, len) {
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => self.file.set_len(len)?,
            other => other?,
        }
        self.mark(State::Filling)
    }

    /// Writes the marker and waits until it is on disk.
    pub(crate) fn mark(&mut self, state: State) -> io::Result<()> {
        self.trailer.state = state;
        self.file.write_all_at(&self.trailer.encode(), self.trailer.size)?;
        self.file.sync_all()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn seed(&self) -> u64 {
        self.trailer.seed
    }

    pub(crate) fn size(&self) -> u64 {
        self.trailer.size
    }

    /// The descriptor that goes through the page cache.
    pub(crate) fn buffered(&self) -> &File {
        &self.file
    }

    /// A second descriptor with `O_DIRECT`.
    pub(crate) fn open_direct(&self) -> io::Result<OwnedFd> {
        open_quietly(OpenOptions::new().read(true).write(true), libc::O_DIRECT, &self.path).map(OwnedFd::from)
    }

    /// Whether the name still leads to this file.
    pub(crate) fn still_there(&self) -> bool {
        self.file.metadata().is_ok_and(|m| m.nlink() > 0)
    }

    /// Leaves the file for the next run in its directory.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        self.mark(State::Kept)?;
        if let Some(entry) = self.entry.take() {
            entry.remove();
        }
        Ok(())
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if let Some(entry) = self.entry.take() {
            match fs::remove_file(&self.path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    // The entry stays, so that the next start tries again.
                    tracing::warn!(path = %self.path.display(), "cannot remove the test file: {e}");
                }
                _ => entry.remove(),
            }
        }
    }
}

/// Files in `dir` with names of ours.
fn candidates(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(|e| is_own_name(&e.file_name())).map(|e| e.path()).collect()
}

/// Enters an existing file into the registry, in place of an entry that nobody uses any more.
fn enter(registry: &Path, path: &Path, file: &File) -> io::Result<Entry> {
    let registry = Registry::lock(registry)?;
    for old in registry.unused().into_iter().filter(|e| e.data == path) {
        old.remove();
    }
    let mut entry = registry.add(path)?;
    let meta = file.metadata()?;
    entry.identify(meta.dev(), meta.ino())?;
    Ok(entry)
}

/// Opens a full file of our own of this size that no living process uses, and locks it. Another user's file, one with
/// a second name, or one with holes is nobody's we know, whatever its marker says.
fn open_unused(path: &Path, size: u64) -> Option<(File, Trailer)> {
    let file = open_quietly(OpenOptions::new().read(true).write(true), libc::O_NOFOLLOW, path).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    let meta = file.metadata().ok()?;
    let ours = meta.is_file() && meta.uid() == rustix::process::geteuid().as_raw() && meta.nlink() == 1;
    let marker = marker(&file).filter(|m| m.size == size && m.state != State::Filling)?;
    (ours && meta.blocks().saturating_mul(512) >= size).then_some((file, marker))
}

/// The marker of an open file, if it has a whole one.
pub(crate) fn marker(file: &File) -> Option<Trailer> {
    let size = file.metadata().ok()?.len().checked_sub(trailer::LEN as u64)?;
    let mut page = [0; trailer::LEN];
    file.read_exact_at(&mut page, size).ok()?;
    Trailer::decode(&page).filter(|t| t.size == size)
}

/// Why a directory cannot be written to, and what to do.
pub(crate) fn cannot_write(dir: &Path, error: &io::Error) -> ErrorBody {
    let dir = dir.display();
    let (why, hint) = match error.raw_os_error() {
        Some(libc::EROFS) => (
            "it is mounted read-only".to_owned(),
            "Choose another directory, or measure the drive read-only by naming its device or an existing file.",
        ),
        Some(libc::EACCES | libc::EPERM) => {
            ("you may not create files there".to_owned(), "Choose a directory of your own, or change its permissions.")
        }
        Some(libc::ENOENT) => ("the directory is gone".to_owned(), "Choose another directory."),
        Some(libc::ENOSPC | libc::EDQUOT) => {
            ("there is no space left".to_owned(), "Free some space, or make size smaller.")
        }
        _ => (error.to_string(), "Choose another directory."),
    };
    ErrorBody::new(ErrorCode::TargetRefused, format!("Cannot write here: {dir}: {why}.")).hint(hint)
}

/// Room ran out while laying out, or the filesystem cannot hold such a file.
pub(crate) fn no_room(dir: &Path, size: u64, error: &io::Error) -> ErrorBody {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => ErrorBody::new(
            ErrorCode::TargetRefused,
            format!("No space left in {} while laying out a file of {}.", dir.display(), Bytes(size)),
        )
        .hint("Free some space, or make size smaller."),
        Some(libc::EFBIG) => ErrorBody::new(
            ErrorCode::TargetRefused,
            format!("The filesystem of {} cannot hold a file of {}.", dir.display(), Bytes(size)),
        )
        .hint("Make size smaller."),
        Some(libc::EIO) => ErrorBody::new(
            ErrorCode::RunFailed,
            format!("I/O error in {} while laying out the file: {error}.", dir.display()),
        )
        .hint("Look at the kernel log (dmesg): the drive or its link may be failing."),
        _ => cannot_write(dir, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::leftovers;

    fn fixture() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let top = tempfile::tempdir().unwrap();
        let (dir, registry) = (top.path().join("data"), top.path().join("registry"));
        fs::create_dir(&dir).unwrap();
        (top, dir, registry)
    }

    fn names(dir: &Path) -> Vec<String> {
        fs::read_dir(dir).map_or(Vec::new(), |d| d.map(|e| e.unwrap().file_name().into_string().unwrap()).collect())
    }

    #[test]
    fn a_dropped_file_and_its_entry_are_gone() {
        let (_top, dir, registry) = fixture();
        let own = OwnFile::create(&dir, 1 << 20, 7, &registry).unwrap();
        assert_eq!((names(&dir).len(), names(&registry).len()), (1, 1));
        assert_eq!(own.buffered().metadata().unwrap().len(), (1 << 20) + 4096);
        drop(own);
        assert_eq!((names(&dir).len(), names(&registry).len()), (0, 0));
    }

    #[test]
    fn a_kept_file_is_reused_only_where_size_and_marker_fit() {
        let (_top, dir, registry) = fixture();
        let mut own = OwnFile::create(&dir, 1 << 20, 7, &registry).unwrap();
        own.mark(State::Full).unwrap();
        own.keep().unwrap();
        assert_eq!((leftovers::remove(&registry), names(&dir).len()), (vec![], 1));
        assert!(OwnFile::reuse(&dir, 2 << 20, &registry).is_none());
        fs::write(dir.join("brakecheck-0123456789abcdef.dat"), vec![0; (1 << 20) + 4096]).unwrap();
        let own = OwnFile::reuse(&dir, 1 << 20, &registry).unwrap();
        assert_eq!((own.seed(), own.reused), (7, true));
        // Used by one run, it is not there for another.
        assert!(OwnFile::reuse(&dir, 1 << 20, &registry).is_none());
        drop(own);
        assert_eq!(names(&dir), ["brakecheck-0123456789abcdef.dat"], "somebody else's file stays");
    }

    /// As after a kill: the locks go with the process, file and entry stay.
    fn abandon(own: OwnFile) -> PathBuf {
        let mut own = std::mem::ManuallyDrop::new(own);
        own.entry = None;
        flock(&own.file, FlockOperation::Unlock).unwrap();
        own.path.clone()
    }

    #[test]
    fn leftovers_go_unless_somebody_lives_on_them() {
        let (_top, dir, registry) = fixture();
        let own = OwnFile::create(&dir, 4096, 1, &registry).unwrap();
        assert!(leftovers::remove(&registry).is_empty(), "in use");
        let path = abandon(own);
        assert_eq!(leftovers::remove(&registry), [path]);
        assert_eq!((names(&dir).len(), names(&registry).len()), (0, 0));
    }

    #[test]
    fn what_somebody_put_in_a_leftovers_place_stays() {
        let (_top, dir, registry) = fixture();
        let path = abandon(OwnFile::create(&dir, 4096, 1, &registry).unwrap());
        fs::rename(&path, dir.join("moved")).unwrap();
        fs::write(&path, "precious").unwrap();
        assert!(leftovers::remove(&registry).is_empty());
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        assert_eq!(names(&registry).len(), 0);
    }

    #[test]
    fn a_leftover_whose_filesystem_is_away_is_remembered() {
        let (_top, dir, registry) = fixture();
        let own = OwnFile::create(&dir, 4096, 1, &registry).unwrap();
        // As when another filesystem stands where its own did.
        let mut own = own;
        let inode = own.entry.as_ref().unwrap().inode;
        own.entry.as_mut().unwrap().identify(u64::MAX, inode).unwrap();
        let path = abandon(own);
        fs::remove_file(&path).unwrap();
        assert!(leftovers::remove(&registry).is_empty());
        assert_eq!(names(&registry).len(), 1);
    }

    #[test]
    fn files_that_only_look_like_ours_are_not_reused() {
        let (_top, dir, registry) = fixture();
        let keep = |seed| {
            let mut own = OwnFile::create(&dir, 1 << 20, seed, &registry).unwrap();
            own.mark(State::Full).unwrap();
            let path = own.path().to_owned();
            own.keep().unwrap();
            path
        };
        let linked = keep(7);
        fs::hard_link(&linked, dir.join("second name")).unwrap();
        assert!(!OwnFile::reusable(&dir, 1 << 20), "has a second name");
        fs::remove_file(dir.join("second name")).unwrap();
        assert!(OwnFile::reusable(&dir, 1 << 20));
        fs::remove_file(&linked).unwrap();
        let holes = File::create(dir.join("brakecheck-0123456789abcdef.dat")).unwrap();
        let trailer = Trailer { size: 1 << 20, seed: 1, state: State::Kept };
        holes.write_all_at(&trailer.encode(), 1 << 20).unwrap();
        assert!(!OwnFile::reusable(&dir, 1 << 20), "has holes");
    }
}
