//! `brakecheck bench`.

use super::Globals;
use protocol::error::{ErrorBody, ErrorCode};

/// Options of `bench`.
#[derive(Debug, clap::Args)]
pub struct BenchArgs {}

/// Runs the subcommand.
pub fn run(_args: BenchArgs, _globals: &Globals) -> Result<(), ErrorBody> {
    Err(ErrorBody::new(ErrorCode::Internal, "bench is not built yet"))
}
