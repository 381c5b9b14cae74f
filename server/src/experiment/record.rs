//! What follows from a stored experiment: its plan, and what its trials say.

use lab::design::{Host, Plan, plan};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{ExperimentRecord, ExperimentReport, Trial};

/// The plan, made again from what it was made from. Refused if this program would plan otherwise.
pub fn plan_of(record: &ExperimentRecord) -> Result<Plan, ErrorBody> {
    let host = Host { knobs: &record.knobs, waits: &record.waits };
    let planned = plan(&record.spec, host)?.without(&record.impossible);
    if planned.configurations == record.configurations {
        return Ok(planned);
    }
    let message = format!("Experiment {} was planned otherwise by version {}.", record.id, record.version);
    Err(ErrorBody::new(ErrorCode::Usage, message).hint("Run it anew, or go on with that version."))
}

/// What its trials say.
pub fn conclude(record: &ExperimentRecord, trials: Vec<Trial>) -> Result<ExperimentReport, ErrorBody> {
    Ok(lab::report::report(&record.spec, &plan_of(record)?, &record.knobs, trials))
}
