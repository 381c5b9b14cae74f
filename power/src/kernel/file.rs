//! Reading and writing one kernel file below a root.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, ftruncate, openat2};
use rustix::io::{Errno, pwrite, read};
use std::time::Duration;

/// A setting is a word or a line; more is damage.
const LONGEST: usize = 16 << 10;

/// How often an access that the kernel asks to repeat is repeated, and how long to wait between.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(10);

/// Opens what lies at an absolute path below `top`. Links are followed, but none leads out of `top`. Never creates,
/// never truncates, and does not wait for the other end of a pipe.
pub(super) fn open(top: &OwnedFd, path: &str, mode: OFlags) -> Result<OwnedFd, Errno> {
    let flags = mode | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    patiently(|| openat2(top, path, flags, Mode::empty(), resolve))
}

/// All of a file, as text.
pub(super) fn text(file: impl AsFd) -> Result<String, Errno> {
    let bytes = bytes(file)?;
    String::from_utf8(bytes).map_err(|_| Errno::IO)
}

/// All of a file.
pub(super) fn bytes(file: impl AsFd) -> Result<Vec<u8>, Errno> {
    let mut data = vec![0; 256];
    let mut len = 0;
    loop {
        match patiently(|| read(&file, data.get_mut(len..).unwrap_or_default()))? {
            0 => break,
            n => len += n,
        }
        if len == data.len() {
            if len >= LONGEST {
                return Err(Errno::IO);
            }
            data.resize(2 * len, 0);
        }
    }
    data.truncate(len);
    Ok(data)
}

/// Writes a value in one go, as the kernel wants it.
pub(super) fn put(file: impl AsFd, data: &[u8]) -> Result<(), Errno> {
    let written = patiently(|| pwrite(&file, data, 0))?;
    if written == data.len() { Ok(()) } else { Err(Errno::IO) }
}

/// As [`put`] into a plain file that stands for the kernel's: what was longer before is cut.
pub(super) fn put_plain(file: &OwnedFd, data: &[u8]) -> Result<(), Errno> {
    let before = fstat(file)?;
    // A tree may hold anything, device nodes too.
    if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
        return Err(Errno::NODEV);
    }
    put(file, data)?;
    let len = data.len() as u64;
    if u64::try_from(before.st_size).is_ok_and(|size| size > len) { ftruncate(file, len) } else { Ok(()) }
}

/// How a value is spelled in the place of `old`: the brackets move as the kernel moves them, and what follows the value
/// stays.
pub(super) fn respelled(old: &str, value: &str) -> String {
    let chosen = format!("[{value}]");
    let word = |w: &str| {
        let bare = w.trim_start_matches('[').trim_end_matches(']');
        if bare == value { chosen.clone() } else { bare.to_owned() }
    };
    let line = old.lines().next().unwrap_or_default().trim_end();
    let has_brackets = crate::root::bracketed(line).is_some();
    let text =
        if has_brackets { line.split_whitespace().map(word).collect::<Vec<_>>().join(" ") } else { value.into() };
    text + if old.is_empty() { "\n" } else { old.get(line.len()..).unwrap_or_default() }
}

fn patiently<T>(mut access: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    for _ in 1..TRIES {
        match access() {
            Err(Errno::AGAIN) => std::thread::sleep(PAUSE),
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
    access()
}

#[cfg(test)]
mod tests {
    use super::respelled;

    #[test]
    fn brackets_move_and_line_ends_stay() {
        assert_eq!(respelled("none [mq-deadline] kyber\n", "kyber"), "none mq-deadline [kyber]\n");
        assert_eq!(respelled("[none] mq-deadline \n", "none"), "[none] mq-deadline \n");
        assert_eq!(respelled("on", "auto"), "auto");
        assert_eq!(respelled("powersave\n", "performance"), "performance\n");
        assert_eq!(respelled("a\na\n", "b"), "b\na\n");
        assert_eq!(respelled("", "1"), "1\n");
    }
}
