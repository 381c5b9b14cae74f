//! A machine written as text, laid out as a tree for `--sysroot`.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A laptop with one NVMe and one SATA drive.
const LAPTOP: &str = include_str!("../../power/tests/trees/laptop.txt");

/// The tree; removed on drop.
#[derive(Debug)]
pub struct Tree {
    dir: TempDir,
    /// Every file as it was laid out.
    original: BTreeMap<PathBuf, String>,
}

impl Tree {
    /// A laptop whose settings belong to this user, and can be read by everybody.
    pub fn laptop() -> Result<Self> {
        Self::of(LAPTOP)
    }

    /// The same with these lines beside.
    pub fn laptop_with(lines: &str) -> Result<Self> {
        Self::of(&format!("{LAPTOP}\n{lines}"))
    }

    /// Any machine: `path = content` makes a file (`\n` is a line break), `path -> target` a link.
    pub fn of(text: &str) -> Result<Self> {
        // In memory where there is such a place: thousands of small files are slow on a busy disk.
        let mut named = tempfile::Builder::new();
        named.prefix("brakecheck-tree-");
        let dir = named.tempdir_in("/dev/shm").or_else(|_| named.tempdir())?;
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755))?;
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let at = |path: &str| -> Result<PathBuf> {
                let path = dir.path().join(path.trim().trim_start_matches('/'));
                fs::create_dir_all(path.parent().context("it has a parent")?)?;
                Ok(path)
            };
            if let Some((path, target)) = line.split_once(" -> ") {
                symlink(target, at(path)?)?;
            } else {
                let (path, content) = line.split_once(" =").with_context(|| format!("no file, no link: {line}"))?;
                fs::write(at(path)?, content.trim_start().replace("\\n", "\n") + "\n")?;
            }
        }
        let original = files(dir.path())?;
        Ok(Self { dir, original })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// What a file says, without its line break.
    pub fn read(&self, path: &str) -> Result<String> {
        let text = fs::read_to_string(self.at(path)).with_context(|| path.to_owned())?;
        Ok(text.trim().to_owned())
    }

    /// Changes a file, as any other program on the host would.
    pub fn write(&self, path: &str, content: &str) -> Result<()> {
        fs::write(self.at(path), content).with_context(|| path.to_owned())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.path().join(path.trim_start_matches('/'))
    }

    /// Every file that is not as it was laid out, with what it said and what it says.
    pub fn changes(&self) -> Result<Vec<String>> {
        let now = files(self.path())?;
        let changed = |(path, was): (&PathBuf, &String)| {
            let is = now.get(path);
            (is != Some(was)).then(|| format!("{}: {was:?} is {is:?}", path.display()))
        };
        let new = now.keys().filter(|path| !self.original.contains_key(*path)).map(|p| format!("{}: new", p.display()));
        Ok(self.original.iter().filter_map(changed).chain(new).collect())
    }

    /// Fails unless every file is as it was laid out.
    pub fn assert_as_found(&self) -> Result<()> {
        let changes = self.changes()?;
        if !changes.is_empty() {
            bail!("left changed:\n{}", changes.join("\n"));
        }
        Ok(())
    }
}

/// Every regular file, without white space at its ends, as the kernel gives it or not.
fn files(dir: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let kind = path.symlink_metadata()?.file_type();
        if kind.is_dir() {
            found.extend(files(&path)?);
        } else if kind.is_file() {
            let text = fs::read_to_string(&path)?;
            // The kernel reads `auto` and says `any`; a file says what was written.
            let value = if text.trim() == "any" { "auto" } else { text.trim() };
            found.insert(path, value.to_owned());
        }
    }
    Ok(found)
}
