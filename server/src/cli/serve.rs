//! `brakecheck serve`.

use super::Globals;
use protocol::error::{ErrorBody, ErrorCode};

/// Options of `serve`.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Port on the loopback addresses; 0 takes any free one
    #[arg(long, default_value_t = protocol::DEFAULT_PORT)]
    pub port: u16,
    /// A further name (NAME or NAME:PORT) under which browsers may reach this server
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allow_hosts: Vec<String>,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
}

impl Default for ServeArgs {
    fn default() -> Self {
        Self { port: protocol::DEFAULT_PORT, allow_hosts: Vec::new(), open: false }
    }
}

/// Runs the subcommand.
pub fn run(_args: ServeArgs, _globals: &Globals) -> Result<(), ErrorBody> {
    Err(ErrorBody::new(ErrorCode::Internal, "serve is not built yet"))
}
