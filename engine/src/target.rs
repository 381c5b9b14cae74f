//! Looking at a target before anything is written.

use crate::EngineError;
use protocol::host::TargetFacts;
use protocol::plan::RunSpec;

/// What is known of the target at `path` (directory, file or block device). Changes nothing.
pub fn inspect(path: &str) -> Result<TargetFacts, EngineError> {
    Err(EngineError::Io { what: format!("inspect {path}"), source: std::io::Error::other("not built") })
}

/// Inspects the target and applies every refusal that can be known before the run: missing or unwritable
/// directory, no space, writes to what is not ours, block size against the drive, `O_DIRECT` against the filesystem.
pub fn check(spec: &RunSpec) -> Result<TargetFacts, EngineError> {
    inspect(&spec.target)
}
