//! The plan of a stored experiment.

use lab::design::{Host, Plan, plan};
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::ExperimentRecord;

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
