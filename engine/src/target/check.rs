//! Every refusal that can be known before a run.

use super::device::or_ask;
use super::inspect::{inspect, shown};
use crate::EngineError;
use crate::file::own;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::host::{TargetFacts, TargetKind};
use protocol::plan::RunSpec;
use protocol::units::Bytes;
use protocol::workload::Workload;
use rustix::fs::{Access, access};
use std::io;
use std::path::Path;

/// Inspects the target and refuses what cannot or may not be done there: writes to what is not ours, a missing or
/// unwritable directory, too little space, blocks that do not fit the drive, `O_DIRECT` where there is none.
pub fn check(spec: &RunSpec) -> Result<TargetFacts, EngineError> {
    let facts = inspect(&spec.target)?;
    refuse_writes(spec, &facts)?;
    refuse_access(&facts)?;
    for step in &spec.steps {
        refuse_shape(&step.workload, &facts)?;
    }
    if facts.kind == TargetKind::Directory {
        let size = spec.file_size().0.next_multiple_of(4096);
        if !own::OwnFile::reusable(Path::new(&spec.target), size) {
            refuse_space(Bytes(size), &facts)?;
        }
    }
    Ok(facts)
}

fn refused(what: String, hint: &str) -> EngineError {
    EngineError::Expected(ErrorBody::new(ErrorCode::TargetRefused, what).hint(hint))
}

/// Writes go only to files of our own.
fn refuse_writes(spec: &RunSpec, facts: &TargetFacts) -> Result<(), EngineError> {
    let what = match facts.kind {
        TargetKind::Directory => return Ok(()),
        TargetKind::File => "an existing file",
        TargetKind::BlockDevice => "a block device",
    };
    match spec.steps.iter().find(|s| s.workload.rw.writes()) {
        None => Ok(()),
        Some(step) => Err(refused(
            format!(
                "{} is {what}, and `{}` would write to it. Brakecheck writes only to files of its own.",
                shown(&spec.target),
                step.workload.label()
            ),
            "Name a directory instead (a test file is laid out there and removed), or choose reads only.",
        )),
    }
}

fn refuse_access(facts: &TargetFacts) -> Result<(), EngineError> {
    let path = Path::new(&facts.path);
    if facts.kind == TargetKind::Directory {
        let options = facts.mount_options.as_deref().unwrap_or_default();
        let error = if options.split(',').any(|o| o == "ro") {
            io::Error::from_raw_os_error(libc::EROFS)
        } else {
            match access(path, Access::WRITE_OK | Access::EXEC_OK) {
                Ok(()) => return Ok(()),
                Err(e) => e.into(),
            }
        };
        return Err(EngineError::Expected(own::cannot_write(path, &error)));
    }
    match or_ask(std::fs::File::open(path), path, false) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Err(EngineError::Expected(
            ErrorBody::new(ErrorCode::NotPermitted, format!("You may not read {}.", shown(&facts.path))).hint(
                if rustix::process::geteuid().is_root() {
                    "A container or security policy forbids it. Name a directory on that drive instead."
                } else {
                    "Start with sudo, or name a directory of your own on that drive."
                },
            ),
        )),
        Err(e) if e.raw_os_error() == Some(libc::ENOMEDIUM) => Err(refused(
            format!("There is no medium in {}.", shown(&facts.path)),
            "Insert one, or choose another target.",
        )),
        Err(e) => Err(refused(format!("{} cannot be opened: {e}.", shown(&facts.path)), "Choose another target.")),
    }
}

/// Block size, offset and size against what is there.
fn refuse_shape(workload: &Workload, facts: &TargetFacts) -> Result<(), EngineError> {
    let usage = |what: String, hint: &str| EngineError::Expected(ErrorBody::new(ErrorCode::Usage, what).hint(hint));
    if !workload.buffered {
        if !facts.direct.supported {
            return Err(refused(
                format!("{} cannot be measured directly: {}.", shown(&facts.path), facts.direct.evidence),
                "Add --buffered to go through the page cache (left out of comparisons), or choose another place.",
            ));
        }
        let align = u64::from(facts.direct.offset_align.unwrap_or(1)).max(1);
        if !workload.bs.0.is_multiple_of(align) || !workload.offset.0.is_multiple_of(align) {
            return Err(usage(
                format!(
                    "bs {} at offset {} does not fit the drive: direct I/O there needs multiples of {align} bytes.",
                    workload.bs, workload.offset
                ),
                "Make bs and offset multiples of that, or add --buffered.",
            ));
        }
    }
    let Some(have) = facts.size else { return Ok(()) };
    let room = have.0.saturating_sub(workload.offset.0);
    let wanted = workload.size.map_or(room, |s| s.0);
    let least = workload.bs.0 * u64::from(workload.numjobs);
    if wanted > room || room < least {
        return Err(usage(
            format!(
                "{} has {have}; `{}` needs {} from offset {}.",
                shown(&facts.path),
                workload.label(),
                Bytes(wanted.max(least)),
                workload.offset
            ),
            "Make size, offset or bs smaller.",
        ));
    }
    Ok(())
}

/// Room for the file, with a floor that stays free: 5 % of the filesystem, at most 1 GiB.
fn refuse_space(size: Bytes, facts: &TargetFacts) -> Result<(), EngineError> {
    let (Some(free), Some(total)) = (facts.free, facts.total) else { return Ok(()) };
    if total.0 == 0 {
        let fs = facts.filesystem.as_deref().unwrap_or("this filesystem");
        return Err(refused(
            format!("{} cannot hold a file: {fs} stores no data.", shown(&facts.path)),
            "Choose a directory on a drive.",
        ));
    }
    let floor = Bytes((total.0 / 20).min(1 << 30));
    if size.0.saturating_add(floor.0) <= free.0 {
        return Ok(());
    }
    Err(refused(
        format!(
            "Not enough space in {}: the file needs {size}, {free} are free, and {floor} are to stay free.",
            shown(&facts.path)
        ),
        "Free some space, make size smaller, or choose another directory.",
    ))
}
