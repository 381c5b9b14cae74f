//! `brakecheck results`.

use super::Globals;
use protocol::error::{ErrorBody, ErrorCode};

/// Options of `results`.
#[derive(Debug, clap::Args)]
pub struct ResultsArgs {}

/// Runs the subcommand.
pub fn run(_args: ResultsArgs, _globals: &Globals) -> Result<(), ErrorBody> {
    Err(ErrorBody::new(ErrorCode::Internal, "results is not built yet"))
}
