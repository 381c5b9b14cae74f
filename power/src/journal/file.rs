//! The file.

use super::aside;
use super::entry::{Damage, Entry, Record, VERSION};
use super::error::JournalError;
use super::host::Host;
use super::line;
use super::lock::{self, Refused};
use super::read::{self, Contents};
use crate::root::Root;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, Mode, OFlags, fdatasync, fstat, fsync, ftruncate, mkdirat, openat, renameat, statat, unlinkat,
};
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
    /// None where it could not be made yet.
    file: Option<OwnedFd>,
    /// Why nothing can be written, if so: reading is enough to put everything back.
    fixed: Option<Errno>,
    /// Where the next line goes.
    len: u64,
    /// Whether the file is a header and whole lines. If not, and it cannot be written anew, lines still can follow.
    sound: bool,
    damage: Vec<Damage>,
    host: Host,
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
        survive_file_limits();
        let dir_fd = open_dir(dir)?;
        let dir = &real(&dir_fd, dir);
        let name = name_of(root);
        let refused = |refused, busy: fn(u32) -> JournalError| match refused {
            Refused::By(pid) => busy(pid),
            Refused::Error(errno) => failed(dir, "lock", errno),
        };
        let lock = lock::take(&dir_fd, &format!("{name}.lock"));
        let lock = lock.map_err(|e| refused(e, |pid| JournalError::Busy { pid }))?;
        let boot = root.read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|| read::UNKNOWN_BOOT.into());
        let host = Host::claim(root, &name, &boot).map_err(|e| refused(e, |pid| JournalError::Held { pid }))?;
        // Of a process that was killed while it wrote; never read.
        let _ = unlinkat(&dir_fd, new_name(&name), AtFlags::empty());
        let (file, fixed) = open_file(&dir_fd, &name).map_err(|errno| failed(dir, "open", errno))?;
        let data = file.as_ref().map(content).transpose().map_err(|errno| failed(dir, "read", errno))?;
        let root = root.path().to_string_lossy().into_owned();
        let is_new = data.is_none();
        let found = data.map_or_else(Contents::default, |data| read::contents(&data, &boot, &root));
        if let Some(why) = found.strange {
            return Err(JournalError::Strange { dir: dir.to_owned(), why });
        }
        let lost = host.lost(&dir_fd, dir, is_new, |data| {
            let there = read::contents(data, &boot, &root);
            is_ours(there.records.values()) || there.damaged > 0
        })?;
        let boot = if boot == read::UNKNOWN_BOOT { found.boot.unwrap_or(boot) } else { boot };
        let header = Entry::Header { version: VERSION, boot, root };
        let (len, damage) = (found.whole, found.known_damage);
        let path = dir.to_owned();
        let mut journal =
            Self { dir: dir_fd, path, name, header, file, fixed, len, sound: found.sound, damage, host, _lock: lock };
        journal.damage.extend(lost);
        let mut notes = found.notes;
        if let Err(error) = journal.mend(found.damaged, &found.records)
            && !is_new
        {
            notes.push(error.to_string());
        }
        journal.host.note(&journal.dir, is_ours(found.records.values()));
        Ok(Opened { journal, records: found.records, notes })
    }

    /// Drops what was torn, keeps what was damaged aside, and writes the rest anew.
    fn mend(&mut self, damaged: u32, records: &BTreeMap<u64, Record>) -> Result<(), JournalError> {
        if let (Some(file), None, 0) = (&self.file, self.fixed, damaged) {
            ftruncate(file, self.len).map_err(|errno| failed(&self.path, "write", errno))?;
        }
        let mut kept = Ok(());
        if let (Some(file), 1..) = (&self.file, damaged) {
            let aside = aside::keep(&self.dir, &self.name, file);
            let note = aside::note(damaged, self.len == 0, &self.path, aside.as_deref().unwrap_or(&self.name));
            self.damage.push(Damage { count: damaged, note });
            kept = aside.map(drop);
        }
        kept.map_err(|errno| failed(&self.path, "copy", errno))?;
        let is_known = damaged == 0 && self.damage.is_empty();
        if self.sound && is_known { Ok(()) } else { self.rewrite(records.values()) }
    }

    /// Damage that was not reported yet.
    pub(crate) fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// It was reported. Gone from the disk with the next [`Journal::rewrite`].
    pub(crate) fn forget_damage(&mut self) {
        self.damage.clear();
    }

    /// Sees to it that these records are on the disk under the journal's name, whoever has removed or cut the file.
    pub(crate) fn keep<'a>(&mut self, records: impl IntoIterator<Item = &'a Record>) -> Result<(), JournalError> {
        if self.stands() { Ok(()) } else { self.rewrite(records) }
    }

    fn stands(&self) -> bool {
        let Some(file) = &self.file else { return false };
        let named = statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(ours), Ok(named)) = (fstat(file), named) else { return false };
        let same = (ours.st_dev, ours.st_ino) == (named.st_dev, named.st_ino);
        same && u64::try_from(ours.st_size).is_ok_and(|size| size >= self.len)
    }

    /// Appends entries; they are on the disk when this returns. After an error, none of them is. What stands in the
    /// file is to be kept by [`Journal::keep`] before.
    pub(crate) fn append<'a>(&mut self, entries: impl IntoIterator<Item = &'a Entry>) -> Result<(), JournalError> {
        let mut text = String::new();
        if !self.sound {
            line::write(&self.header, &mut text);
        }
        for entry in entries {
            line::write(entry, &mut text);
        }
        let file = self.file.as_ref().ok_or_else(|| failed(&self.path, "write", Errno::NOENT))?;
        if let Some(errno) = self.fixed {
            return Err(failed(&self.path, "write", errno));
        }
        self.host.note(&self.dir, true);
        let written = write_at(file, text.as_bytes(), self.len).and_then(|()| fdatasync(file));
        if let Err(errno) = written {
            let _ = ftruncate(file, self.len);
            return Err(failed(&self.path, "write", errno));
        }
        self.len += text.len() as u64;
        Ok(())
    }

    /// Writes the file anew with these records alone. After an error the old one stands.
    pub(crate) fn rewrite<'a>(&mut self, records: impl IntoIterator<Item = &'a Record>) -> Result<(), JournalError> {
        let records: Vec<&Record> = records.into_iter().collect();
        let is_ours = is_ours(records.iter().copied());
        let written = self.replace_content(&records);
        // Where nothing is changed any more, nobody need be sent here, even if the old file stands.
        if written.is_ok() || !is_ours {
            self.host.note(&self.dir, is_ours);
        }
        written
    }

    fn replace_content(&mut self, records: &[&Record]) -> Result<(), JournalError> {
        if let Some(errno) = self.fixed {
            return Err(failed(&self.path, "write", errno));
        }
        let mut text = String::new();
        line::write(&self.header, &mut text);
        let header_len = text.len();
        for damage in &self.damage {
            line::write(&Entry::Damage(damage.clone()), &mut text);
        }
        for record in records {
            line::write(&Entry::Record((*record).clone()), &mut text);
        }
        // Takes no room, and so works on a full disk.
        if let Some(file) = self.file.as_ref().filter(|_| text.len() == header_len && self.sound && self.stands()) {
            let cut = ftruncate(file, header_len as u64).and_then(|()| fdatasync(file));
            cut.map_err(|errno| failed(&self.path, "write", errno))?;
        } else {
            let new = new_name(&self.name);
            let replaced = self.replace(&new, text.as_bytes());
            self.file = Some(replaced.map_err(|errno| {
                let _ = unlinkat(&self.dir, &new, AtFlags::empty());
                failed(&self.path, "write", errno)
            })?);
            self.sound = true;
        }
        self.len = text.len() as u64;
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

pub(super) const READ_ONLY: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

pub(super) fn flags() -> OFlags {
    READ_ONLY | OFlags::RDWR | OFlags::CREATE
}

pub(super) fn private() -> Mode {
    Mode::from_raw_mode(0o600)
}

/// The file, and why nothing can be written to it, if so; none where there is none.
fn open_file(dir: &OwnedFd, name: &str) -> Result<(Option<OwnedFd>, Option<Errno>), Errno> {
    match openat(dir, name, READ_ONLY | OFlags::RDWR, Mode::empty()) {
        Ok(file) => Ok((Some(file), None)),
        Err(Errno::NOENT) => Ok((None, None)),
        Err(errno @ (Errno::ROFS | Errno::PERM | Errno::ACCESS)) => {
            Ok((Some(openat(dir, name, READ_ONLY, Mode::empty())?), Some(errno)))
        }
        Err(errno) => Err(errno),
    }
}

/// Whether something is to be put back; what somebody else has changed since is theirs.
fn is_ours<'a>(mut records: impl Iterator<Item = &'a Record>) -> bool {
    records.any(|record| !record.foreign)
}

/// At most so much as a journal may have.
pub(super) fn content(file: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut data = Vec::new();
    let reader = File::from(file.try_clone().map_err(|e| errno_of(&e))?);
    reader.take(LONGEST).read_to_end(&mut data).map_err(|e| errno_of(&e))?;
    Ok(data)
}

/// A write beyond `ulimit -f` is to fail, not to end the process. Handled, not ignored: what is started later is not
/// concerned.
fn survive_file_limits() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // Where the kernel refuses even that, all is as before.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    });
}

/// Where a journal is written anew before it takes the place of the old one.
fn new_name(name: &str) -> String {
    format!("{name}.new")
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

/// Where the directory lies: callers may name it by a descriptor.
fn real(dir: &OwnedFd, named: &Path) -> PathBuf {
    std::fs::read_link(format!("/proc/self/fd/{}", dir.as_raw_fd())).unwrap_or_else(|_| named.to_owned())
}

pub(super) fn write_at(file: &OwnedFd, mut data: &[u8], mut at: u64) -> Result<(), Errno> {
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
        Errno::NOENT if action == "write" => JournalError::Gone { dir },
        errno => JournalError::Io { dir, action, errno },
    }
}

fn errno_of(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
