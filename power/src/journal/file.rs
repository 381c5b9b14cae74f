//! The file.

use super::entry::{Entry, Record, VERSION};
use super::error::JournalError;
use super::lock::{self, Refused};
use super::{line, read};
use crate::root::Root;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, fdatasync, fstat, fsync, ftruncate, mkdirat, openat, renameat, unlinkat};
use rustix::io::{Errno, pwrite};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Far above thousands of settings; beyond it the file is not ours.
const LONGEST: u64 = 64 << 20;

/// The journal of one root, locked.
#[derive(Debug)]
pub struct Journal {
    dir: OwnedFd,
    path: PathBuf,
    name: String,
    header: Entry,
    file: OwnedFd,
    /// Where the next line goes.
    len: u64,
    /// Whether the file is a header and whole lines. If not, and it cannot be written anew, lines still can follow.
    sound: bool,
    _lock: Option<OwnedFd>,
}

/// A journal and what it said.
#[derive(Debug)]
pub struct Opened {
    /// To go on with.
    pub journal: Journal,
    /// What was changed and is not back yet, by number.
    pub records: BTreeMap<u64, Record>,
    /// Things to know.
    pub notes: Vec<String>,
}

impl Journal {
    /// Opens the journal of `root` in `dir`, which is made (mode 0700) if there is none, and reads it.
    pub fn open(root: &Root, dir: &Path) -> Result<Opened, JournalError> {
        let io = |action| move |errno| failed(dir, action, errno);
        let dir_fd = open_dir(dir)?;
        let name = name_of(root);
        let lock = lock::take(&dir_fd, &format!("{name}.lock")).map_err(|refused| match refused {
            Refused::By(pid) => JournalError::Busy { pid },
            Refused::Error(errno) => failed(dir, "lock", errno),
        })?;
        let boot = root.read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|| "unknown".into());
        let root = root.path().to_string_lossy().into_owned();
        let file = match openat(&dir_fd, &name, flags(), private()) {
            // Reading is enough to put everything back.
            Err(Errno::ROFS) => openat(&dir_fd, &name, READ_ONLY, Mode::empty()),
            other => other,
        };
        let file = file.map_err(io("open"))?;
        let mut data = Vec::new();
        let reader = File::from(file.try_clone().map_err(|e| failed(dir, "read", errno_of(&e)))?);
        reader.take(LONGEST).read_to_end(&mut data).map_err(|e| failed(dir, "read", errno_of(&e)))?;
        let found = read::contents(&data, &boot, &root);
        if let Some(why) = found.strange {
            return Err(JournalError::Strange { dir: dir.to_owned(), why });
        }
        let header = Entry::Header { version: VERSION, boot, root };
        let len = data.len() as u64;
        let mut journal =
            Self { dir: dir_fd, path: dir.to_owned(), name, header, file, len, sound: found.sound, _lock: lock };
        let mut notes = found.notes;
        if !found.sound
            && let Err(error) = journal.rewrite(found.records.values())
        {
            notes.push(error.to_string());
        }
        Ok(Opened { journal, records: found.records, notes })
    }

    /// Appends entries; they are on the disk when this returns. After an error, none of them is.
    pub(crate) fn append<'a>(&mut self, entries: impl IntoIterator<Item = &'a Entry>) -> Result<(), JournalError> {
        let mut text = String::new();
        if !self.sound {
            text.push('\n');
            line::write(&self.header, &mut text);
        }
        for entry in entries {
            line::write(entry, &mut text);
        }
        let written = write_at(&self.file, text.as_bytes(), self.len).and_then(|()| fdatasync(&self.file));
        if let Err(errno) = written {
            let _ = ftruncate(&self.file, self.len);
            return Err(failed(&self.path, "write", errno));
        }
        self.len += text.len() as u64;
        Ok(())
    }

    /// Writes the file anew with these records alone. After an error the old one stands.
    pub(crate) fn rewrite<'a>(&mut self, records: impl IntoIterator<Item = &'a Record>) -> Result<(), JournalError> {
        let mut text = String::new();
        line::write(&self.header, &mut text);
        let header_len = text.len();
        for record in records {
            line::write(&Entry::Record(record.clone()), &mut text);
        }
        // Takes no room, and so works on a full disk.
        if text.len() == header_len && self.sound {
            let cut = ftruncate(&self.file, header_len as u64).and_then(|()| fdatasync(&self.file));
            cut.map_err(|errno| failed(&self.path, "write", errno))?;
            self.len = header_len as u64;
            return Ok(());
        }
        let new = format!("{}.new", self.name);
        let replaced = self.replace(&new, text.as_bytes());
        self.file = replaced.map_err(|errno| {
            let _ = unlinkat(&self.dir, &new, AtFlags::empty());
            failed(&self.path, "write", errno)
        })?;
        self.len = text.len() as u64;
        self.sound = true;
        Ok(())
    }

    fn replace(&self, new: &str, data: &[u8]) -> Result<OwnedFd, Errno> {
        let file = openat(&self.dir, new, flags() | OFlags::TRUNC, private())?;
        write_at(&file, data, 0)?;
        fsync(&file)?;
        renameat(&self.dir, new, &self.dir, &self.name)?;
        fsync(&self.dir)?;
        Ok(file)
    }
}

const READ_ONLY: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

fn flags() -> OFlags {
    READ_ONLY | OFlags::RDWR | OFlags::CREATE
}

fn private() -> Mode {
    Mode::from_raw_mode(0o600)
}

/// The live machine's is `journal`; that of a recorded tree never mixes with it.
fn name_of(root: &Root) -> String {
    let path = root.path().as_os_str().as_encoded_bytes();
    if root.is_live() { "journal".into() } else { format!("journal-{:08x}", crc32fast::hash(path)) }
}

/// Only its owner may be able to put anything into the directory: what stands in a journal is written to the kernel.
fn open_dir(dir: &Path) -> Result<OwnedFd, JournalError> {
    match mkdirat(rustix::fs::CWD, dir, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(failed(dir, "make a directory for", errno)),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let refused = |why| JournalError::Unsafe { dir: dir.to_owned(), why };
    let fd = rustix::fs::open(dir, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::LOOP | Errno::NOTDIR => refused("it is a link or no directory"),
        errno => failed(dir, "open", errno),
    })?;
    let stat = fstat(&fd).map_err(|errno| failed(dir, "open", errno))?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(refused("it belongs to another user"));
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        return Err(refused("other users may write there"));
    }
    Ok(fd)
}

fn write_at(file: &OwnedFd, mut data: &[u8], mut at: u64) -> Result<(), Errno> {
    while !data.is_empty() {
        match pwrite(file, data, at) {
            Ok(0) => return Err(Errno::IO),
            Ok(n) => {
                data = data.get(n..).unwrap_or_default();
                at += n as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn failed(dir: &Path, action: &'static str, errno: Errno) -> JournalError {
    let dir = dir.to_owned();
    match errno {
        Errno::NOSPC | Errno::DQUOT => JournalError::Full { dir },
        errno => JournalError::Io { dir, action, errno },
    }
}

fn errno_of(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
