//! A filesystem in memory that answers each access to its files as a test says: as it is, with an error, by storing
//! something else.

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

/// Contents by path: `/sys/...`.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// One access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// What becomes of an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// As asked.
    Pass,
    /// This errno.
    Fail(i32),
    /// Something else is stored than what was written.
    Store(&'static str),
    /// What was written is forgotten.
    Ignore,
    /// The file goes away first.
    Vanish,
}

type Rule = Box<dyn FnMut(&str, Access, &Files) -> Answer + Send>;

struct State {
    files: Files,
    rule: Rule,
    /// Inode number of a path: its place here, from 1.
    inodes: Vec<String>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("files", &self.files).finish_non_exhaustive()
    }
}

/// The mounted filesystem, to be changed behind its back.
#[derive(Debug)]
pub(crate) struct Tree {
    state: Arc<Mutex<State>>,
    session: Option<BackgroundSession>,
    at: TempDir,
}

impl Tree {
    /// `None`, and a message, where filesystems like this cannot be mounted.
    pub(crate) fn mount(files: Files) -> Option<Self> {
        let rule: Rule = Box::new(|_, _, _| Answer::Pass);
        let state = Arc::new(Mutex::new(State { files, rule, inodes: vec![String::new()] }));
        let at = TempDir::new().ok()?;
        match fuser::spawn_mount(Mounted(state.clone()), at.path(), &Config::default()) {
            Ok(session) => Some(Self { state, session: Some(session), at }),
            Err(error) => {
                eprintln!("skipped: cannot mount a FUSE filesystem here ({error}): needs root and /dev/fuse");
                None
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.at.path()
    }

    /// Answers accesses from now on.
    pub(crate) fn answer(&self, rule: impl FnMut(&str, Access, &Files) -> Answer + Send + 'static) {
        lock(&self.state).rule = Box::new(rule);
    }

    /// Answers everything as it is.
    pub(crate) fn calm(&self) {
        self.answer(|_, _, _| Answer::Pass);
    }

    pub(crate) fn files(&self) -> Files {
        lock(&self.state).files.clone()
    }

    pub(crate) fn replace(&self, files: Files) {
        lock(&self.state).files = files;
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if let Some(session) = self.session.take()
            && let Err(error) = session.umount_and_join()
        {
            eprintln!("cannot unmount {}: {error}", self.at.path().display());
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn path(&self, ino: INodeNo) -> Option<String> {
        self.inodes.get(usize::try_from(u64::from(ino)).ok()?.checked_sub(1)?).cloned()
    }

    fn attr(&mut self, path: &str) -> Option<FileAttr> {
        let size = self.files.get(path).map(Vec::len);
        let below = format!("{path}/");
        let is_dir = self.files.range(below.clone()..).next().is_some_and(|(p, _)| p.starts_with(&below));
        if size.is_none() && !is_dir {
            return None;
        }
        let known = self.inodes.iter().position(|p| p == path);
        let place = known.unwrap_or_else(|| {
            self.inodes.push(path.to_owned());
            self.inodes.len() - 1
        });
        let kind = if is_dir { FileType::Directory } else { FileType::RegularFile };
        Some(FileAttr {
            ino: INodeNo(place as u64 + 1),
            size: size.unwrap_or(0) as u64,
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm: if is_dir { 0o755 } else { 0o644 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 512,
            flags: 0,
        })
    }

    /// What the rule says of an access, errors and vanishing done.
    fn judge(&mut self, path: &str, access: Access) -> Result<Answer, Errno> {
        match (self.rule)(path, access, &self.files) {
            Answer::Fail(errno) => Err(Errno::from_i32(errno)),
            Answer::Vanish => {
                self.files.remove(path);
                Err(Errno::ENODEV)
            }
            answer => Ok(answer),
        }
    }

    fn names(&self, dir: &str) -> Vec<String> {
        let below = format!("{dir}/");
        let inside = self.files.range(below.clone()..).map(|(p, _)| p).take_while(|p| p.starts_with(&below));
        let mut names: Vec<String> =
            inside.filter_map(|p| Some(p.get(below.len()..)?.split('/').next()?.to_owned())).collect();
        names.dedup();
        names
    }
}

struct Mounted(Arc<Mutex<State>>);

/// Nothing is remembered by the kernel: each access comes here.
const NEVER: Duration = Duration::ZERO;

impl Filesystem for Mounted {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut state = lock(&self.0);
        let path = state.path(parent).map(|parent| format!("{parent}/{}", name.to_string_lossy()));
        match path.and_then(|p| state.attr(&p)) {
            Some(attr) => reply.entry(&NEVER, &attr, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let mut state = lock(&self.0);
        match state.path(ino).and_then(|p| state.attr(&p)) {
            Some(attr) => reply.attr(&NEVER, &attr),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Cutting a file means nothing here, as in sysfs: a write replaces all of it.
    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
        _atime: Option<fuser::TimeOrNow>,
        _mtime: Option<fuser::TimeOrNow>,
        _ctime: Option<std::time::SystemTime>,
        fh: Option<FileHandle>,
        _crtime: Option<std::time::SystemTime>,
        _chgtime: Option<std::time::SystemTime>,
        _bkuptime: Option<std::time::SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.getattr(request, ino, fh, reply);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut state = lock(&self.0);
        let Some(path) = state.path(ino) else { return reply.error(Errno::ENODEV) };
        // What follows the first one is the same access, as in sysfs.
        if offset == 0
            && let Err(errno) = state.judge(&path, Access::Read)
        {
            return reply.error(errno);
        }
        match state.files.get(&path) {
            Some(data) => {
                let rest = usize::try_from(offset).ok().and_then(|from| data.get(from..)).unwrap_or_default();
                reply.data(rest.get(..size as usize).unwrap_or(rest));
            }
            None => reply.error(Errno::ENODEV),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        _offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut state = lock(&self.0);
        let Some(path) = state.path(ino) else { return reply.error(Errno::ENODEV) };
        let stored = match state.judge(&path, Access::Write) {
            Err(errno) => return reply.error(errno),
            Ok(Answer::Ignore) => None,
            Ok(Answer::Store(other)) => Some(other.as_bytes()),
            Ok(_) => Some(data),
        };
        if let Some(stored) = stored {
            state.files.insert(path, stored.to_owned());
        }
        reply.written(u32::try_from(data.len()).unwrap_or(0));
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let mut state = lock(&self.0);
        let Some(dir) = state.path(ino) else { return reply.error(Errno::ENOENT) };
        let from = usize::try_from(offset).unwrap_or(0);
        for (at, name) in state.names(&dir).into_iter().enumerate().skip(from) {
            let Some(attr) = state.attr(&format!("{dir}/{name}")) else { continue };
            if reply.add(attr.ino, at as u64 + 1, attr.kind, &name) {
                break;
            }
        }
        reply.ok();
    }
}
