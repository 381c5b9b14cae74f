//! What the kernel answered when it did not do as asked, in words.

use crate::site::Site;
use rustix::io::Errno;
use std::fmt;

/// The kernel's own (include/linux/errno.h), which no manual for programs names; some drivers let it out.
const ENOTSUPP: Errno = Errno::from_raw_os_error(524);

/// An access to a site that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} ({attempt} {path}: {})", self.explain(), name(*.errno))]
pub struct Fault {
    /// Which setting.
    pub site: Site,
    /// Its file, as a path below the root.
    pub path: String,
    /// What was attempted.
    pub attempt: Attempt,
    /// The kernel's answer.
    pub errno: Errno,
}

/// What was attempted when an access failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// Reading the value.
    Read,
    /// Writing a value.
    Write,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

impl Fault {
    /// Why, as far as the errno of this file tells.
    pub fn explain(&self) -> &'static str {
        self.known().unwrap_or_else(|| general(self.errno))
    }

    /// Whether the file or its device is not there, at least for now.
    pub fn is_gone(&self) -> bool {
        // Where threads cannot be controlled at all, their file answers ENODEV and stays.
        let lasting = matches!((&self.site, self.errno), (Site::Smt, Errno::NODEV));
        matches!(self.errno, Errno::NOENT | Errno::NODEV | Errno::NXIO) && !lasting
    }

    /// Answers that mean something of their own at this file.
    fn known(&self) -> Option<&'static str> {
        Some(match (&self.site, self.errno) {
            (Site::AspmPolicy | Site::LinkBit { .. }, Errno::PERM) => "firmware owns ASPM: the kernel refuses changes",
            (Site::NoTurbo, Errno::PERM) => "the BIOS has turned Turbo Boost off",
            (Site::Boost | Site::PolicyBoost { .. }, Errno::INVAL | Errno::PERM) => {
                "boost is off in the BIOS or for all CPUs, or this processor has none"
            }
            (Site::Smt, Errno::PERM) => "SMT is forced off until the next boot",
            (Site::Smt, Errno::NODEV) => "this processor or kernel offers no control of SMT",
            (Site::Epp { .. }, Errno::BUSY) => {
                "the governor is `performance`, which fixes the preference: choose another governor first"
            }
            (Site::Governor { .. } | Site::FrequencyFloor { .. }, Errno::BUSY) => {
                "the CPUs of this frequency policy are offline"
            }
            (Site::CpuOnline { .. }, Errno::BUSY | Errno::NOSPC) => {
                "the kernel cannot move this CPU's interrupts or tasks elsewhere now"
            }
            (Site::IdleDisable { .. }, Errno::PERM) => {
                "idle states need CAP_SYS_ADMIN: start as root, outside a container"
            }
            (Site::SataPolicy { .. }, Errno::OPNOTSUPP) => {
                "this port has no link power management: it is external, for hotplug, or its drive is known to fail"
            }
            (Site::QueueDepth { .. }, Errno::INVAL) => "the drive takes no such queue depth",
            (Site::NmiWatchdog, Errno::INVAL | Errno::OPNOTSUPP) => "this kernel has no NMI watchdog to turn on",
            (Site::NmiWatchdog, ENOTSUPP) => "this processor or virtual machine has no counter for it",
            (Site::LinkSpeed { .. }, Errno::AGAIN) => "the link trained to another speed than asked",
            (Site::LinkSpeed { .. }, Errno::TIMEDOUT) => "the link took too long to train",
            _ => return None,
        })
    }
}

fn general(errno: Errno) -> &'static str {
    match errno {
        Errno::PERM | Errno::ACCESS if rustix::process::geteuid().is_root() => {
            "not permitted even to root: a container, or kernel lockdown, keeps it"
        }
        Errno::PERM | Errno::ACCESS => "not permitted: needs root, outside a container",
        Errno::BUSY => "the kernel or another program has it in use",
        Errno::INVAL => "the kernel does not take this value",
        Errno::AGAIN | Errno::INTR => "the kernel stayed busy with it: try again",
        Errno::NOENT | Errno::NODEV | Errno::NXIO => "the device is gone",
        Errno::IO => "the device or its driver answered with an I/O error",
        Errno::OPNOTSUPP | ENOTSUPP => "the device does not support it",
        Errno::ROFS => "mounted read-only, as in a container: run on the host, or mount /sys writable",
        Errno::NOSPC => "no room left",
        Errno::TIMEDOUT => "no answer in time",
        _ => "the kernel refused",
    }
}

/// The errno as manuals name it.
pub(crate) fn name(errno: Errno) -> String {
    let known = match errno {
        Errno::PERM => "EPERM",
        Errno::ACCESS => "EACCES",
        Errno::BUSY => "EBUSY",
        Errno::INVAL => "EINVAL",
        Errno::AGAIN => "EAGAIN",
        Errno::INTR => "EINTR",
        Errno::NOENT => "ENOENT",
        Errno::NODEV => "ENODEV",
        Errno::NXIO => "ENXIO",
        Errno::IO => "EIO",
        Errno::OPNOTSUPP => "EOPNOTSUPP",
        Errno::ROFS => "EROFS",
        Errno::NOSPC => "ENOSPC",
        Errno::TIMEDOUT => "ETIMEDOUT",
        Errno::NODATA => "ENODATA",
        ENOTSUPP => "ENOTSUPP",
        _ => return format!("errno {}", errno.raw_os_error()),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_errno_means_different_things() {
        let fault = |site, errno| Fault { site, path: "/f".into(), attempt: Attempt::Write, errno };
        let aspm = fault(Site::AspmPolicy, Errno::PERM);
        assert_eq!(aspm.to_string(), "firmware owns ASPM: the kernel refuses changes (write /f: EPERM)");
        assert_eq!(fault(Site::NoTurbo, Errno::PERM).explain(), "the BIOS has turned Turbo Boost off");
        assert_eq!(fault(Site::NoTurbo, Errno::NODEV).explain(), "the device is gone");
        assert!(fault(Site::NoTurbo, Errno::NODEV).is_gone() && !fault(Site::Smt, Errno::NODEV).is_gone());
    }
}
