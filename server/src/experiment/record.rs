//! What is stored of an experiment beside its trials: enough to plan it again and to judge what it found.

use lab::design::{Host, Plan, plan};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{Configuration, ExperimentSpec};
use protocol::host::{DriveFacts, HostFacts, TargetFacts};
use protocol::knob::Knob;
use protocol::workload::Wait;
use serde::{Deserialize, Serialize};

/// An experiment as it began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its id; sorts by time.
    pub id: String,
    /// Version of this form, [`protocol::experiment::outcome::FORMAT`].
    pub format: u32,
    /// Version of the program that began it.
    pub version: String,
    /// Start, RFC 3339, UTC.
    pub started_at: String,
    /// What was asked for, with the seed that was drawn.
    pub spec: ExperimentSpec,
    /// The host's knobs as found.
    pub knobs: Vec<Knob>,
    /// The ways to wait that its kernel has.
    pub waits: Vec<Wait>,
    /// Configurations of the design that the kernel did not take, by their place in it, and why.
    pub impossible: Vec<(usize, String)>,
    /// The configurations that are run; trials name them by their place here.
    pub configurations: Vec<Configuration>,
    /// The machine.
    pub host: HostFacts,
    /// What is measured.
    pub target: TargetFacts,
    /// The drive under it, where the kernel knows one.
    pub drive: Option<DriveFacts>,
}

impl Record {
    /// The plan, made again from what it was made from.
    pub fn plan(&self) -> Result<Plan, ErrorBody> {
        let planned = plan(&self.spec, Host { knobs: &self.knobs, waits: &self.waits })?.without(&self.impossible);
        if planned.configurations == self.configurations {
            return Ok(planned);
        }
        let message = format!("Experiment {} was planned otherwise by version {}.", self.id, self.version);
        Err(ErrorBody::new(ErrorCode::Usage, message).hint("Run it anew, or go on with that version."))
    }

    /// Ids of the knobs that it changes.
    pub fn touched(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.configurations.iter().flat_map(|c| &c.set).map(|a| a.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
