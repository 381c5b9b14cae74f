//! One reading of one kernel file, told so that absent, unreadable and read-only are three different things.

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// What a kernel file said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    /// Its bytes, or why there are none.
    pub(crate) data: Result<Vec<u8>, Errno>,
    /// Whether its mode lets anybody write. Whether *we* may is another matter: who lists need not be who writes.
    pub(crate) writable: bool,
}

impl Look {
    /// `None` if nothing is there. A character device is looked at only where `devices` says so, and never one that
    /// waits for input.
    pub(crate) fn at(path: &Path, devices: bool, limit: u64) -> Option<Self> {
        // A pipe in a recorded tree would block an ordinary open.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let failed = |e: &io::Error| Errno::from_io_error(e).unwrap_or(Errno::IO);
        let usable = |m: &fs::Metadata| m.is_file() || (devices && m.file_type().is_char_device());
        let look = |meta: &fs::Metadata, data| Self { data, writable: meta.mode() & 0o222 != 0 };
        match OpenOptions::new().read(true).custom_flags(flags).open(path) {
            Ok(file) => {
                let meta = file.metadata().ok().filter(usable)?;
                Some(look(&meta, read(file, limit).map_err(|e| failed(&e))))
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
            Err(e) => Some(look(&fs::metadata(path).ok().filter(usable)?, Err(failed(&e)))),
        }
    }

    /// The text without white space at its ends.
    pub(crate) fn text(&self) -> Result<String, Errno> {
        let data = self.data.as_deref().map_err(|e| *e)?;
        Ok(String::from_utf8_lossy(data).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
    }

    /// The text of a file that holds a setting; an empty one says nothing.
    pub(crate) fn value(&self) -> Result<String, Errno> {
        self.text().and_then(|text| if text.is_empty() { Err(Errno::NODATA) } else { Ok(text) })
    }
}

/// Longer than what nearly all kernel files hold. What comes short is whole, so that one call does.
const CHUNK: usize = 4096;

fn read(mut file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut chunk = [0; CHUNK];
    let len = loop {
        match file.read(&mut chunk) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            done => break done?,
        }
    };
    let mut data = chunk.get(..len).unwrap_or_default().to_vec();
    if len == CHUNK {
        file.take(limit.saturating_sub(CHUNK as u64)).read_to_end(&mut data)?;
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_unreadable_and_read_only_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| Look::at(&dir.path().join(name), false, 100);
        assert_eq!(at("nothing"), None);
        assert_eq!(at("."), None, "a directory is no file");
        fs::write(dir.path().join("file"), "auto\n\0").unwrap();
        let look = at("file").unwrap();
        assert_eq!((look.text(), look.writable), (Ok("auto".into()), true));
        let mut mode = fs::metadata(dir.path().join("file")).unwrap().permissions();
        mode.set_readonly(true);
        fs::set_permissions(dir.path().join("file"), mode).unwrap();
        assert!(!at("file").unwrap().writable);
        assert_eq!(Look::at(Path::new("/dev/null"), false, 1), None);
        assert_eq!(Look::at(Path::new("/dev/null"), true, 1).unwrap().text(), Ok(String::new()));
    }
}
