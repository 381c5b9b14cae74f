//! The state directory of a server that root starts: it belongs to the server's user, but for the journal.
//!
//! Root writes in a directory that an ordinary user owns, so no link is followed, and only what is known to be ours
//! changes hands.

use super::user::User;
use crate::state_dir::{Content, StateDir};
use protocol::error::{ErrorBody, ErrorCode};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid, fchmod, fchown, fstat, mkdirat, openat, statat};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Opens the state directory, making it if absent, and gives it to `user`.
pub(super) fn hand_over(path: &Path, user: &User) -> Result<StateDir, ErrorBody> {
    let state = StateDir::open(path)?;
    let failed = |what: &str| {
        let what = format!("The state directory {} cannot be used: {what}.", state.path().display());
        ErrorBody::new(ErrorCode::NotPermitted, what).hint("Name another one with --state-dir, or a new one.")
    };
    let io = |e: Errno| failed(&e.to_string());
    let dir = directory(rustix::fs::CWD, state.path()).map_err(io)?;
    let stat = fstat(&dir).map_err(io)?;
    if ![0, user.uid].contains(&stat.st_uid) {
        return Err(failed(&format!("it belongs to user {}, who is not {}", stat.st_uid, user.name)));
    }
    let mut ours = Vec::new();
    for entry in std::fs::read_dir(state.path()).map_err(|e| failed(&e.to_string()))? {
        let name = entry.map_err(|e| failed(&e.to_string()))?.file_name();
        match Content::of(&name) {
            Some(Content::Journal) => {}
            Some(content) => ours.push((name, content)),
            None => return Err(failed(&format!("it holds {}, which is not Brakecheck's", name.display()))),
        }
    }
    let owner = Owner(Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    for (name, content) in ours {
        let given = match content {
            Content::Targets => owner.give_directory(&dir, &name),
            _ => owner.give_file(&dir, &name),
        };
        given.map_err(|e| failed(&format!("{}: {e}", name.display())))?;
    }
    fchown(&dir, Some(owner.0), Some(owner.1)).and_then(|()| fchmod(&dir, Mode::RWXU)).map_err(io)?;
    Ok(state)
}

/// The journal's directory, this user's own and private, made if absent.
pub fn journal(state: &StateDir) -> Result<PathBuf, ErrorBody> {
    let path = state.journal();
    // Never to be removed: it may tell what is to be put back.
    let failed = |what: &str, hint: &str| {
        let what = format!("The directory {} cannot hold the journal of settings: {what}.", path.display());
        ErrorBody::new(ErrorCode::NotPermitted, what).hint(hint)
    };
    let me = rustix::process::geteuid();
    let io = |e: Errno| match e {
        Errno::ACCESS if !me.is_root() => failed("it belongs to another user", ANOTHERS),
        e => failed(&e.to_string(), ANOTHER),
    };
    match mkdirat(rustix::fs::CWD, &path, Mode::RWXU) {
        Err(e) if e != Errno::EXIST => return Err(io(e)),
        _ => {}
    }
    let dir = directory(rustix::fs::CWD, &path).map_err(io)?;
    let stat = fstat(&dir).map_err(io)?;
    if stat.st_uid != me.as_raw() {
        return Err(failed("it belongs to another user", if me.is_root() { ANOTHER } else { ANOTHERS }));
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
        match fchmod(&dir, Mode::RWXU) {
            // There nobody can write. What stands in it can be put back.
            Ok(()) | Err(Errno::ROFS) => {}
            Err(e) => return Err(io(e)),
        }
    }
    Ok(path)
}

const ANOTHER: &str = "Name another directory with --state-dir.";
const ANOTHERS: &str = "Use sudo, or name another directory with --state-dir.";

fn directory(at: impl AsFd, path: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    openat(at, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

struct Owner(Uid, Gid);

impl Owner {
    /// A regular file with no other name, which could be somebody else's.
    fn give_file(&self, dir: impl AsFd, name: &std::ffi::OsStr) -> io::Result<()> {
        let seen = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(seen.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no regular file"));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&dir, name, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink != 1 {
            return Err(io::Error::other("it has a second name, and may be somebody else's"));
        }
        Ok(fchown(file, Some(self.0), Some(self.1))?)
    }

    /// A directory and the files in it.
    fn give_directory(&self, parent: impl AsFd, name: &std::ffi::OsStr) -> io::Result<()> {
        let dir = directory(parent, name)?;
        self.give_content(dir.as_fd())?;
        Ok(fchown(dir, Some(self.0), Some(self.1))?)
    }

    fn give_content(&self, dir: BorrowedFd<'_>) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(dir)? {
            let entry = entry?;
            let name = std::os::unix::ffi::OsStrExt::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                self.give_file(dir, name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    fn me() -> User {
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        User { name: "me".into(), uid: uid.as_raw(), gid: gid.as_raw() }
    }

    #[test]
    fn a_directory_with_something_else_in_it_is_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        std::fs::write(tmp.path().join("results.db"), "").unwrap();
        std::fs::write(tmp.path().join("thesis.tex"), "").unwrap();
        let error = hand_over(tmp.path(), &me()).unwrap_err();
        assert!(error.message.contains("thesis.tex"), "{error}");
    }

    #[test]
    fn links_and_second_names_do_not_change_hands() {
        for make in [
            |at: &Path, other: &Path| std::os::unix::fs::symlink(other, at),
            |at: &Path, other: &Path| std::fs::hard_link(other, at),
        ] {
            let tmp = tempfile::tempdir().unwrap();
            let (state, other) = (tmp.path().join("state"), tmp.path().join("shadow"));
            std::fs::create_dir(&state).unwrap();
            std::fs::write(&other, "").unwrap();
            make(&state.join("token"), &other).unwrap();
            let error = hand_over(&state, &me()).unwrap_err();
            assert!(error.message.contains("token"), "{error}");
        }
    }

    #[test]
    fn all_that_is_ours_changes_hands_but_the_journal() {
        let tmp = tempfile::tempdir().unwrap();
        let state = StateDir::open(tmp.path()).unwrap();
        let journal = journal(&state).unwrap();
        std::fs::create_dir(state.targets()).unwrap();
        let entry = state.targets().join("brakecheck-0123456789abcdef.dat");
        for file in [state.database(), state.token(), tmp.path().join("results.db.corrupt-20261130T000000Z-wal"), entry]
        {
            std::fs::write(file, "").unwrap();
        }
        // Only root can give files away.
        let user = if me().uid == 0 { User { name: "nobody".into(), uid: 65534, gid: 65534 } } else { me() };
        hand_over(tmp.path(), &user).unwrap();
        let owner = |path: &Path| std::fs::metadata(path).unwrap().uid();
        let given = [tmp.path(), &state.database(), &state.token(), &state.targets()].map(owner);
        assert_eq!(given, [user.uid; 4]);
        assert_eq!(owner(&journal), me().uid);
        hand_over(tmp.path(), &user).unwrap();
    }
}
