//! The filesystem with the drive's one file, which is held in memory.

use super::{go_first, pace::Clock};
use anyhow::Result;
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};
use std::cell::Cell;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

/// The file's name.
pub(super) const NAME: &str = "image";

const ROOT: INodeNo = INodeNo(1);
const FILE: INodeNo = INodeNo(2);
/// The kernel may remember what a file is for the life of the mount.
const ALWAYS: Duration = Duration::from_hours(24);

/// The file's content.
pub(super) struct Image {
    bytes: Mutex<Vec<u8>>,
    clock: Arc<Clock>,
}

impl Image {
    pub(super) fn new(len: u64, clock: Arc<Clock>) -> Result<Self> {
        Ok(Self { bytes: Mutex::new(vec![0; usize::try_from(len)?]), clock })
    }

    fn attr(&self, ino: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match ino {
            ROOT => (FileType::Directory, 0o755, 0),
            FILE => (FileType::RegularFile, 0o600, self.bytes.lock().unwrap_or_else(PoisonError::into_inner).len()),
            _ => return None,
        };
        Some(FileAttr {
            ino,
            size: size as u64,
            blocks: size as u64 / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Filesystem for Image {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Without it the loop device waits for each read before it sends the next.
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(|_| std::io::ErrorKind::Unsupported.into())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attr(FILE) {
            Some(attr) if name == NAME => reply.entry(&ALWAYS, &attr, Generation(0)),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attr(ino) {
            Some(attr) => reply.attr(&ALWAYS, &attr),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        thread_local!(static FIRST: Cell<bool> = const { Cell::new(true) });
        if FIRST.take()
            && let Err(error) = go_first()
        {
            eprintln!("the drive may answer late: {error:#}");
        }
        self.clock.wait(size as usize);
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = usize::try_from(offset).ok().and_then(|from| bytes.get(from..)).unwrap_or_default();
        reply.data(rest.get(..size as usize).unwrap_or(rest));
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(from) = usize::try_from(offset) else { return reply.error(Errno::EFBIG) };
        let Some(place) = from.checked_add(data.len()).and_then(|end| bytes.get_mut(from..end)) else {
            return reply.error(Errno::ENOSPC);
        };
        place.copy_from_slice(data);
        reply.written(u32::try_from(data.len()).unwrap_or(0));
    }
}
