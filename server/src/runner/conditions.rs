//! The conditions of a run: host, drive, target, engine.

use super::{Runner, new_id, now};
use power::Root;
use protocol::api::RunRequest;
use protocol::error::ErrorBody;
use protocol::host::{DriveFacts, TargetFacts};
use protocol::plan::RunSpec;
use protocol::preset::Column;
use protocol::run::{RunRecord, RunState};

/// The drive under a target, as seen under `root`.
pub fn drive(root: &Root, target: &TargetFacts) -> Option<DriveFacts> {
    power::drive::facts(root, target.dev?)
}

/// [`RunRequest::plan`]; a preset without columns of the caller's choice only reads where it may not write, which is
/// every target but a directory.
pub fn plan(request: &RunRequest) -> Result<RunSpec, ErrorBody> {
    let read_only = std::fs::metadata(&request.target).is_ok_and(|m| !m.is_dir());
    let columns =
        request.columns.clone().or_else(|| (request.preset.is_some() && read_only).then(|| vec![Column::Read]));
    RunRequest { columns, ..request.clone() }.plan()
}

impl Runner {
    /// Looks at target and host, applies every refusal that can be known before the run, and makes the record of a
    /// run that has not begun (state `queued`).
    pub fn prepare(&self, spec: RunSpec) -> Result<RunRecord, ErrorBody> {
        let target = engine::target::check(&spec).map_err(|e| e.body())?;
        Ok(RunRecord {
            id: new_id(),
            version: protocol::VERSION.into(),
            started_at: now(),
            finished_at: None,
            state: RunState::Queued,
            host: power::host::facts(&self.root),
            drive: drive(&self.root, &target),
            engine: engine::facts::engine_facts().clone(),
            spec,
            target,
            results: Vec::new(),
            error: None,
        })
    }

    /// Looks again at what may have changed while a run waited. A target that is gone is left for the run to report.
    pub fn refresh(&self, record: &mut RunRecord) {
        record.host = power::host::facts(&self.root);
        if let Ok(target) = engine::target::inspect(&record.spec.target) {
            record.drive = drive(&self.root, &target);
            record.target = target;
        }
    }
}
