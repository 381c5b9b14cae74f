//! `brakecheck doctor`.

use super::Globals;
use protocol::error::{ErrorBody, ErrorCode};

/// Options of `doctor`.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {}

/// Runs the subcommand.
pub fn run(_args: DoctorArgs, _globals: &Globals) -> Result<(), ErrorBody> {
    Err(ErrorBody::new(ErrorCode::Internal, "doctor is not built yet"))
}
