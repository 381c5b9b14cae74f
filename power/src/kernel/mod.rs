//! Reading and writing the kernel's settings below a root: one [`Site`] at a time, in one spelling, with the kernel's
//! errors in words.

mod fault;
mod file;
mod identity;
mod settle;

pub(crate) use fault::name as errno_name;
pub use fault::{Attempt, Fault};
pub(crate) use identity::differs;

use crate::nvme;
use crate::profile_daemon::Hold;
use crate::root::Root;
use crate::site::Site;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io;

/// What `/dev/cpu_dma_latency` says while nobody limits anything, in microseconds
/// (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE`).
pub const NO_LIMIT: &str = "2000000000";

/// The settings below a root, and what is held open for them.
#[derive(Debug)]
pub struct Kernel {
    root: Root,
    top: OwnedFd,
    /// Open `/dev/cpu_dma_latency` of the running machine: the limit lasts as long as this.
    latency_limit: Option<OwnedFd>,
    profile: Hold,
}

impl Kernel {
    /// The settings below this root. Fails if its directory cannot be opened.
    pub fn open(root: Root) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = rustix::fs::open(root.path(), flags, Mode::empty())?;
        Ok(Self { root, top, latency_limit: None, profile: Hold::default() })
    }

    /// Where this is.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The value in force, in the spelling of [`Site::normalise`].
    pub fn read(&self, site: &Site) -> Result<String, Fault> {
        self.get(site).map_err(|errno| self.fault(site, Attempt::Read, errno))
    }

    /// Writes a value. Whether it took effect, only reading it again tells.
    pub fn write(&mut self, site: &Site, value: &str) -> Result<(), Fault> {
        self.put(site, value).map_err(|errno| self.fault(site, Attempt::Write, errno))
    }

    /// Whether a setting is in force only while it is held, so that its end needs no writing.
    pub fn is_held(&self, site: &Site) -> bool {
        match site {
            Site::LatencyLimit => self.root.is_live(),
            Site::ProfileHold => true,
            _ => false,
        }
    }

    /// Whether something is held for this site now.
    pub fn holds(&self, site: &Site) -> bool {
        match site {
            Site::LatencyLimit => self.latency_limit.is_some(),
            Site::ProfileHold => self.profile.is_held(),
            _ => false,
        }
    }

    /// Lets go of what is held for this site.
    pub fn release(&mut self, site: &Site) {
        match site {
            Site::LatencyLimit => self.latency_limit = None,
            Site::ProfileHold => self.profile.release(),
            _ => {}
        }
    }

    fn get(&self, site: &Site) -> Result<String, Errno> {
        let text = match site {
            Site::ProfileHold => self.profile.active(&self.root)?,
            Site::LatencyLimit => {
                let bytes = file::bytes(self.open_site(site, OFlags::RDONLY)?)?;
                let micros = bytes.first_chunk().map(|b| i32::from_ne_bytes(*b));
                micros.ok_or(Errno::IO)?.to_string()
            }
            Site::PowerState { controller } => nvme::power_state(&self.root, controller)?.to_string(),
            _ => file::text(self.open_site(site, OFlags::RDONLY)?)?,
        };
        Ok(site.normalise(&text))
    }

    fn put(&mut self, site: &Site, value: &str) -> Result<(), Errno> {
        // Turned off by force, threads stay off until the next boot.
        if value.is_empty() || value.chars().any(char::is_control) || (*site == Site::Smt && value == "forceoff") {
            return Err(Errno::INVAL);
        }
        match site {
            Site::ProfileHold => self.profile.hold(&self.root, value),
            Site::LatencyLimit => self.limit_latency(site, value),
            Site::PowerState { controller } => {
                nvme::set_power_state(&self.root, controller, value.parse().map_err(|_| Errno::INVAL)?)
            }
            _ if self.root.is_live() => {
                file::put(self.open_site(site, OFlags::WRONLY)?, format!("{value}\n").as_bytes())
            }
            _ => {
                let file = self.open_site(site, OFlags::RDWR)?;
                let old = file::text(&file).unwrap_or_default();
                file::put_plain(&file, file::respelled(&old, value).as_bytes())
            }
        }
    }

    fn limit_latency(&mut self, site: &Site, value: &str) -> Result<(), Errno> {
        let micros: i32 = value.parse().map_err(|_| Errno::INVAL)?;
        if !self.root.is_live() {
            return file::put_plain(&self.open_site(site, OFlags::WRONLY)?, &micros.to_ne_bytes());
        }
        if value == NO_LIMIT {
            self.latency_limit = None;
            return Ok(());
        }
        let file = match self.latency_limit.take() {
            Some(file) => file,
            None => self.open_site(site, OFlags::WRONLY)?,
        };
        file::put(&file, &micros.to_ne_bytes())?;
        self.latency_limit = Some(file);
        Ok(())
    }

    fn open_site(&self, site: &Site, mode: OFlags) -> Result<OwnedFd, Errno> {
        let path = site.path(&self.root).ok_or(Errno::NODEV)?;
        file::open(&self.top, &path, mode)
    }

    fn fault(&self, site: &Site, attempt: Attempt, errno: Errno) -> Fault {
        Fault { site: site.clone(), path: site.source(&self.root), attempt, errno }
    }
}
