//! Filesystems of our own on loop devices.

use crate::scratch;
use anyhow::{Context, Result, ensure};
use rustix::process::geteuid;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A loop device with a filesystem, mounted; taken down on drop.
#[derive(Debug)]
pub struct Disk {
    dir: TempDir,
    device: PathBuf,
    image: PathBuf,
    mounted: bool,
}

impl Disk {
    /// Makes one with `mkfs.{filesystem}`; `None`, with a word on why, where that is not possible.
    pub fn with(filesystem: &str, mib: u64) -> Result<Option<Self>> {
        Self::bare(mib)?.map(|disk| disk.mounted(filesystem)).transpose()
    }

    /// The same with its backing file in memory: what others do on this machine's disk makes it no slower.
    pub fn in_memory(filesystem: &str, mib: u64) -> Result<Option<Self>> {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| scratch())?;
        Self::on(dir, mib, &[])?.map(|disk| disk.mounted(filesystem)).transpose()
    }

    /// Of a file that is there, through a loop device that passes each read on as it is.
    pub(crate) fn behind(image: &Path) -> Result<Option<Self>> {
        Ok(Self::attach(scratch()?, image, &["--direct-io=on"]))
    }

    pub(crate) fn mounted(mut self, filesystem: &str) -> Result<Self> {
        let mkfs = format!("mkfs.{filesystem}");
        let quiet = if filesystem == "ext4" { "-qF" } else { "-qf" };
        sh(Command::new(mkfs).arg(quiet).arg(&self.device))?;
        std::fs::create_dir(self.path())?;
        sh(Command::new("mount").arg(&self.device).arg(self.path()))?;
        self.mounted = true;
        Ok(self)
    }

    /// A loop device without a filesystem. Its backing file is fully allocated.
    pub fn bare(mib: u64) -> Result<Option<Self>> {
        Self::with_sector(512, mib)
    }

    /// The same with logical blocks of this many bytes.
    pub fn with_sector(sector: u32, mib: u64) -> Result<Option<Self>> {
        Self::on(scratch()?, mib, &["--direct-io=on", &format!("--sector-size={sector}")])
    }

    fn on(dir: TempDir, mib: u64, options: &[&str]) -> Result<Option<Self>> {
        let image = dir.path().join("image");
        sh(Command::new("fallocate").arg("-l").arg(format!("{mib}MiB")).arg(&image))?;
        Ok(Self::attach(dir, &image, options))
    }

    fn attach(dir: TempDir, image: &Path, options: &[&str]) -> Option<Self> {
        if !geteuid().is_root() {
            eprintln!("skipped: loop devices need root");
            return None;
        }
        match sh(Command::new("losetup").args(["--find", "--show"]).args(options).arg(image)) {
            Ok(device) => Some(Self { dir, device: device.trim().into(), image: image.into(), mounted: false }),
            Err(error) => {
                eprintln!("skipped: no loop device to be had here: {error:#}");
                None
            }
        }
    }

    /// `/dev/loopN`.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// The file behind the device.
    pub fn image(&self) -> &Path {
        &self.image
    }

    /// Where the filesystem is mounted.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("mnt")
    }

    /// Mounts it anew with these options.
    pub fn remount(&self, options: &str) -> Result<()> {
        sh(Command::new("mount").arg("-o").arg(format!("remount,{options}")).arg(self.path())).map(drop)
    }

    /// What the block layer has counted for the device so far.
    pub fn stat(&self) -> Result<BlockStat> {
        let name = self.device.file_name().context("a device has a name")?;
        let text = std::fs::read_to_string(Path::new("/sys/block").join(name).join("stat"))?;
        let fields: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let &[read_ios, _, read_sectors, _, write_ios, _, write_sectors, ..] = fields.as_slice() else {
            anyhow::bail!("stat has too few fields: {text}");
        };
        Ok(BlockStat { read_ios, read_bytes: read_sectors * 512, write_ios, write_bytes: write_sectors * 512 })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazy: after a process that was killed, the kernel may still be letting go of its ring and the file in it.
        if self.mounted
            && let Err(error) = sh(Command::new("umount").arg("--lazy").arg(self.path()))
        {
            eprintln!("{error:#}");
        }
        if let Err(error) = sh(Command::new("losetup").arg("--detach").arg(&self.device)) {
            eprintln!("{error:#}");
        }
    }
}

/// Counters of `/sys/block/*/stat`.
#[derive(Debug, Clone, Copy)]
pub struct BlockStat {
    /// Read requests.
    pub read_ios: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests.
    pub write_ios: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

fn sh(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
