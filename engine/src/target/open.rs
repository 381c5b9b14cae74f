//! The target opened for a run: a file of our own, laid out, or somebody's file or device, for reading only.

use super::device::or_ask;
use crate::Control;
use crate::error::EngineError;
use crate::file::own::OwnFile;
use crate::file::{State, layout};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::host::{TargetFacts, TargetKind};
use protocol::plan::RunSpec;
use rustix::fs::{Advice, fadvise};
use std::fs::{File, OpenOptions};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// An open target.
pub(crate) struct Target {
    /// Past the page cache; absent where that is not possible and not asked for.
    direct: Option<OwnedFd>,
    handle: Handle,
    /// Bytes from the start that may be accessed.
    pub(crate) size: u64,
    /// The device whose counters tell what reached it.
    pub(crate) dev: Option<(u32, u32)>,
}

enum Handle {
    Own(OwnFile),
    Foreign(File),
}

impl Target {
    /// Opens, and in a directory lays out the file (or finds a kept one), telling `report` the bytes done and the
    /// speed. `None` when stopped meanwhile.
    pub(crate) fn open(
        spec: &RunSpec,
        facts: &TargetFacts,
        registry: &Path,
        control: &Control,
        report: &mut dyn FnMut(u64, f64),
    ) -> Result<Option<Self>, EngineError> {
        let wants_direct = spec.steps.iter().any(|s| !s.workload.buffered);
        let path = Path::new(&facts.path);
        let target = if facts.kind == TargetKind::Directory {
            let size = spec.file_size().0.next_multiple_of(4096);
            let own = if let Some(own) = OwnFile::reuse(path, size, registry) {
                own
            } else {
                let own = OwnFile::create(path, size, seed(), registry).map_err(EngineError::Expected)?;
                // As fio leaves it: who does not drop the cache first means to read from it.
                let cached = spec.steps.iter().any(|s| s.workload.buffered && !s.workload.invalidate);
                let Some(own) = lay_out(own, cached, control, report)? else { return Ok(None) };
                own
            };
            let direct = if wants_direct { Some(own.open_direct().map_err(|e| no_direct(facts, &e))?) } else { None };
            Self { direct, handle: Handle::Own(own), size, dev: facts.dev }
        } else {
            let open = |flags| {
                let opened = open_quietly(OpenOptions::new().read(true), flags, path);
                or_ask(opened, path, flags & libc::O_DIRECT != 0)
            };
            let io = |source| EngineError::Io { what: format!("open {}", facts.path), source };
            let direct =
                if wants_direct { Some(open(libc::O_DIRECT).map_err(|e| no_direct(facts, &e))?.into()) } else { None };
            let size = facts.size.map_or(0, |s| s.0);
            Self { direct, handle: Handle::Foreign(open(0).map_err(io)?), size, dev: facts.dev }
        };
        Ok(Some(target))
    }

    /// The descriptor for a workload.
    pub(crate) fn fd(&self, buffered: bool) -> BorrowedFd<'_> {
        match (&self.direct, buffered) {
            (Some(direct), false) => direct.as_fd(),
            _ => self.buffered().as_fd(),
        }
    }

    fn buffered(&self) -> &File {
        match &self.handle {
            Handle::Own(own) => own.buffered(),
            Handle::Foreign(file) => file,
        }
    }

    /// Writes back what is dirty and drops the range from the page cache.
    pub(crate) fn invalidate(&self, offset: u64, size: u64) {
        if let Handle::Own(own) = &self.handle {
            // Dirty pages cannot be dropped. An error of the drive shows in the accesses that follow.
            let _ = own.buffered().sync_data();
        }
        // Advice only; where it is not taken, the block layer's counters will tell.
        let _ = fadvise(self.buffered(), offset, NonZeroU64::new(size), Advice::DontNeed);
    }

    /// Why the run cannot go on, if the file has been removed from its directory.
    pub(crate) fn still_there(&self) -> Result<(), ErrorBody> {
        match &self.handle {
            Handle::Own(own) if !own.still_there() => {
                let what = format!("The test file was removed while it was measured: {}.", own.path().display());
                Err(ErrorBody::new(ErrorCode::RunFailed, what)
                    .hint("Start again; leave brakecheck-*.dat alone until it ends."))
            }
            _ => Ok(()),
        }
    }

    /// Whether somebody's file has holes or unwritten parts, which no drive is asked for.
    pub(crate) fn sparse(&self) -> bool {
        let Handle::Foreign(file) = &self.handle else { return false };
        file.metadata().is_ok_and(|m| m.is_file() && m.blocks().saturating_mul(512) < m.len() / 100 * 95)
    }

    /// Whether the file was left by an earlier run.
    pub(crate) fn reused(&self) -> bool {
        matches!(&self.handle, Handle::Own(own) if own.reused)
    }

    /// Ends the use of the target; a file of our own stays if `keep`, else is removed.
    pub(crate) fn close(self, keep: bool) -> Result<(), EngineError> {
        match self.handle {
            Handle::Own(own) if keep => {
                let what = format!("keep {}", own.path().display());
                own.keep().map_err(|source| EngineError::Io { what, source })
            }
            _ => Ok(()),
        }
    }
}

/// Opens without noting the time of each read in the file, as fio does: that would be a write of its own. Only the
/// owner may ask for it; others get an ordinary descriptor.
pub(crate) fn open_quietly(options: &mut OpenOptions, flags: i32, path: &Path) -> io::Result<File> {
    match options.custom_flags(flags | libc::O_NOATIME).open(path) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => options.custom_flags(flags).open(path),
        opened => opened,
    }
}

fn lay_out(
    mut own: OwnFile,
    cached: bool,
    control: &Control,
    report: &mut dyn FnMut(u64, f64),
) -> Result<Option<OwnFile>, EngineError> {
    if !layout::fill(&own, cached, control, report).map_err(EngineError::Expected)? {
        return Ok(None);
    }
    let what = format!("mark {}", own.path().display());
    own.mark(State::Full).map_err(|source| EngineError::Io { what, source })?;
    Ok(Some(own))
}

/// Names the file and seeds its data; two files are never to hold the same.
fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut bytes = [0u8; 8];
    let random = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    let random = if random == Ok(8) { u64::from_le_bytes(bytes) } else { u64::from(std::process::id()) << 32 };
    random ^ u64::from(now.subsec_nanos()) ^ now.as_secs()
}

fn no_direct(facts: &TargetFacts, error: &io::Error) -> EngineError {
    let what = format!("{} cannot be measured directly: opening with O_DIRECT failed: {error}.", facts.path);
    EngineError::Expected(
        ErrorBody::new(ErrorCode::TargetRefused, what)
            .hint("Add --buffered to go through the page cache (left out of comparisons), or choose another place."),
    )
}
