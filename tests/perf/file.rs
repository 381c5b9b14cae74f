//! The file both tools read.

use anyhow::Result;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// A file of 1 GiB of random bytes; removed on drop.
pub(crate) struct Cached(NamedTempFile);

/// Writes the file and puts it on the disk, so that it can be read directly as well as from the page cache.
pub(crate) fn cached(dir: &Path) -> Result<Cached> {
    let mut file = tempfile::Builder::new().prefix("brakecheck-perf-").tempfile_in(dir)?;
    let mut random = File::open("/dev/urandom")?;
    let mut block = vec![0; 1 << 20];
    for _ in 0..1024 {
        random.read_exact(&mut block)?;
        file.write_all(&block)?;
    }
    file.as_file().sync_all()?;
    Ok(Cached(file))
}

impl Cached {
    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Brings all of it into the page cache.
    pub(crate) fn warm(&self) -> Result<()> {
        std::io::copy(&mut File::open(self.path())?, &mut std::io::sink())?;
        Ok(())
    }
}
