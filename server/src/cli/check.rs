//! `brakecheck check`: is this drive slowed down by power saving, and by which setting?

use super::Globals;
use super::experiment::{ConductArgs, start};
use super::measure::absolute;
use crate::experiment::file;
use crate::runner::Runner;
use protocol::error::ErrorBody;
use protocol::experiment::{Design, ExperimentSpec, WorkloadChoice};
use protocol::units::Bytes;
use std::process::ExitCode;

/// Options of `check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// A directory on the drive, in which a file of our own is laid out and removed; or an existing file or device,
    /// which is only ever read
    #[arg(long, visible_alias = "filename", value_name = "PATH")]
    target: String,
    /// Settings to try [default: all that can matter for the drive]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    knobs: Vec<String>,
    /// What is measured under each: names of workloads or presets [default: 4k-qd1,4k-qd1-paced,cold-read]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    workloads: Vec<String>,
    /// File size, or how much of a file or device is read, instead of the workloads' own
    #[arg(long, value_name = "SIZE")]
    size: Option<Bytes>,
    #[command(flatten)]
    conduct: ConductArgs,
}

/// Runs the subcommand.
pub fn run(args: &CheckArgs, globals: &Globals) -> Result<ExitCode, ErrorBody> {
    let asked = args.spec()?;
    let runner = Runner::open(globals)?;
    start(&runner, &|_| Ok(asked.clone()), &args.conduct, globals)
}

impl CheckArgs {
    /// What is asked for; the rest, a check finds by itself.
    fn spec(&self) -> Result<ExperimentSpec, ErrorBody> {
        let spec = ExperimentSpec {
            knobs: self.knobs.clone(),
            workloads: self.workloads.iter().cloned().map(WorkloadChoice::Named).collect(),
            ..ExperimentSpec::new(Design::Check, absolute(&self.target))
        };
        let spec = file::with(spec, &self.conduct.set)?;
        self.size.map_or_else(|| Ok(spec.clone()), |size| file::sized(&spec, size))
    }
}
