//! `brakecheck preset`.

use super::Globals;
use protocol::error::{ErrorBody, ErrorCode};

/// Options of `preset`.
#[derive(Debug, clap::Args)]
pub struct PresetArgs {}

/// Runs the subcommand.
pub fn run(_args: PresetArgs, _globals: &Globals) -> Result<(), ErrorBody> {
    Err(ErrorBody::new(ErrorCode::Internal, "preset is not built yet"))
}
