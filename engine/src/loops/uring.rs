//! Making a ring: what the kernel offers, and why something is missing.

use io_uring::{Builder, IoUring};
use std::io;
use std::sync::OnceLock;

/// What rings can do here; probed once.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one feature of the kernel, independent of the others")]
pub(crate) struct RingSupport {
    /// Why there is no ring at all, in words.
    pub(crate) unavailable: Option<String>,
    /// `IORING_SETUP_SINGLE_ISSUER` and `IORING_SETUP_DEFER_TASKRUN` (Linux 6.1).
    pub(crate) defer_taskrun: bool,
    /// `IORING_SETUP_COOP_TASKRUN` and its flag (Linux 5.19).
    pub(crate) coop_taskrun: bool,
    /// `IORING_SETUP_NO_SQARRAY` (Linux 6.6).
    pub(crate) no_sqarray: bool,
    /// Timeouts as arguments of `io_uring_enter` (Linux 5.11).
    pub(crate) ext_arg: bool,
    /// `IORING_ENTER_NO_IOWAIT` (Linux 6.15).
    pub(crate) no_iowait: bool,
}

impl RingSupport {
    pub(crate) fn get() -> &'static Self {
        static SUPPORT: OnceLock<RingSupport> = OnceLock::new();
        SUPPORT.get_or_init(Self::probe)
    }

    fn probe() -> Self {
        let ring = match IoUring::new(2) {
            Ok(ring) => ring,
            Err(e) => return Self { unavailable: Some(why_not(&e)), ..Self::default() },
        };
        let params = ring.params();
        let works = |choose: fn(&mut Builder) -> &mut Builder| choose(&mut IoUring::builder()).build(2).is_ok();
        let defer = works(|b| b.setup_single_issuer().setup_defer_taskrun());
        let coop = works(|b| b.setup_coop_taskrun().setup_taskrun_flag());
        let no_sqarray = works(Builder::setup_no_sqarray);
        Self {
            unavailable: None,
            defer_taskrun: defer,
            coop_taskrun: coop,
            no_sqarray,
            ext_arg: params.is_feature_ext_arg(),
            no_iowait: params.is_feature_no_iowait(),
        }
    }

    /// A ring for `depth` accesses with the best of what there is.
    pub(crate) fn ring(&self, depth: usize) -> io::Result<IoUring> {
        let mut builder: Builder = IoUring::builder();
        if self.defer_taskrun {
            builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag();
        } else if self.coop_taskrun {
            builder.setup_coop_taskrun().setup_taskrun_flag();
        }
        if self.no_sqarray {
            builder.setup_no_sqarray();
        }
        let entries = u32::try_from(depth.max(2)).unwrap_or(u32::MAX);
        builder.build(entries)
    }

    /// Names of the features in use.
    pub(crate) fn features(&self) -> Vec<String> {
        let known = [
            (self.defer_taskrun, "defer-taskrun"),
            (self.defer_taskrun, "single-issuer"),
            (!self.defer_taskrun && self.coop_taskrun, "coop-taskrun"),
            (self.no_sqarray, "no-sqarray"),
        ];
        known.into_iter().filter(|(have, _)| *have).map(|(_, name)| name.to_owned()).collect()
    }
}

/// Why a ring could not be made, in words a user can act on.
fn why_not(error: &io::Error) -> String {
    let sysctl = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    match (error.raw_os_error(), sysctl.trim()) {
        (Some(libc::EPERM), "2") => "disabled for all by sysctl kernel.io_uring_disabled=2".into(),
        (Some(libc::EPERM), "1") => {
            "disabled for ordinary users by sysctl kernel.io_uring_disabled=1 (members of kernel.io_uring_group are exempt)"
                .into()
        }
        (Some(libc::EPERM | libc::EACCES), _) => {
            "refused by a seccomp filter or security policy, as container runtimes install by default".into()
        }
        (Some(libc::ENOSYS), _) => {
            "the kernel has no io_uring (Linux 5.1 and later have), or a seccomp filter hides it".into()
        }
        (Some(libc::ENOMEM), _) => "the locked-memory limit (ulimit -l) is too low for a ring".into(),
        _ => error.to_string(),
    }
}

/// Why buffers could not be registered.
pub(crate) fn why_not_registered(error: &io::Error) -> String {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current;
    match (error.raw_os_error(), limit) {
        (Some(libc::ENOMEM), Some(bytes)) => {
            format!("they exceed the locked-memory limit of {} KiB (ulimit -l)", bytes / 1024)
        }
        _ => error.to_string(),
    }
}
