//! Files that root makes in a directory of somebody else belong to that one, who has to be able to use them later.

use rustix::fs::{Gid, Uid, fchown};
use rustix::process::geteuid;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// As root, gives an open file or directory to the owner of the directory `parent`. A file that has a second name is
/// refused: whoever owns the directory may have put somebody else's file there.
pub fn adopt(file: &File, parent: &Path) -> io::Result<()> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let (meta, parent) = (file.metadata()?, fs::metadata(parent)?);
    if meta.is_file() && meta.nlink() != 1 || !meta.is_file() && !meta.is_dir() {
        return Err(io::Error::other("it is no file of Brakecheck's own"));
    }
    if (meta.uid(), meta.gid()) != (parent.uid(), parent.gid()) {
        fchown(file, Some(Uid::from_raw(parent.uid())), Some(Gid::from_raw(parent.gid())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_second_name_is_refused() {
        if !geteuid().is_root() {
            eprintln!("skipped: only root gives files away");
            return;
        }
        let tmp = tempfile::tempdir().unwrap();
        let (path, second) = (tmp.path().join("a"), tmp.path().join("b"));
        let file = File::create(&path).unwrap();
        std::os::unix::fs::chown(tmp.path(), Some(7), Some(8)).unwrap();
        adopt(&file, tmp.path()).unwrap();
        let meta = file.metadata().unwrap();
        assert_eq!((meta.uid(), meta.gid()), (7, 8));
        fs::hard_link(&path, &second).unwrap();
        adopt(&file, tmp.path()).unwrap_err();
    }
}
