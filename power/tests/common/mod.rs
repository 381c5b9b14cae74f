//! Machines as directory trees.

#![allow(dead_code, reason = "most test programs use a part")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use power::Root;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A machine written as text: `path = content` makes a file (`\n` is a line break), `path -> target` a link.
pub(crate) fn tree(text: &str) -> (TempDir, Root) {
    let dir = scratch();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let at = |path: &str| {
            let path = dir.path().join(path.trim().trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        if let Some((path, target)) = line.split_once(" -> ") {
            std::os::unix::fs::symlink(target, at(path)).unwrap();
        } else {
            let (path, content) = line.split_once(" =").unwrap_or_else(|| panic!("neither file nor link: {line}"));
            fs::write(at(path), content.trim_start().replace("\\n", "\n") + "\n").unwrap();
        }
    }
    let root = Root::new(dir.path()).unwrap();
    (dir, root)
}

/// A directory, in memory where there is such a place: small files by the thousand are slow on a busy disk.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// The folder of recorded machines, if there is one here.
pub(crate) fn machines() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/machines");
    let path = std::env::var_os("BRAKECHECK_MACHINES").map_or(beside, PathBuf::from);
    let found = path.join("materialise").exists();
    if !found {
        eprintln!("skipped: no recorded machines at {}; name them in BRAKECHECK_MACHINES", path.display());
    }
    found.then_some(path)
}

/// A recorded machine, laid out: `--cpu adl0 --block simple-nvme`.
pub(crate) fn machine(machines: &Path, args: &[&str]) -> (TempDir, Root) {
    let dir = scratch();
    lay_out(machines, dir.path(), args);
    let root = Root::new(dir.path()).unwrap();
    (dir, root)
}

/// Lays a recorded machine, or a part of one, over what is in `dir`.
pub(crate) fn lay_out(machines: &Path, dir: &Path, args: &[&str]) {
    let status = std::process::Command::new(machines.join("materialise")).arg(dir).args(args).status().unwrap();
    assert!(status.success(), "materialise {args:?}");
}
