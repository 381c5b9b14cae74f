//! Bodies of the HTTP interface under `/api/v1`.

use crate::error::{ErrorBody, ErrorCode};
use crate::host::{DriveFacts, EngineFacts, HostFacts, TargetFacts};
use crate::plan::RunSpec;
use crate::preset::{Cell, Column, PresetRequest};
use crate::run::{RunId, RunRecord, RunState};
use crate::sample::Sample;
use crate::units::{Bytes, Seconds};
use crate::whole::maybe_whole;
use crate::workload::{Wait, Workload};
use serde::{Deserialize, Serialize};

/// `POST /api/v1/runs`: a preset or a list of workloads on a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// Directory, file or block device.
    pub target: String,
    /// Name of a preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Workloads of one's own, run in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<Workload>,
    /// Scored repetitions of each; the preset's own number by default, 1 for workloads.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "maybe_whole::<1, 100, _, _>")]
    pub repetitions: Option<u32>,
    /// File size instead of the preset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Runtime of each step instead of the preset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Seconds>,
    /// Pause between tests instead of the preset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Seconds>,
    /// Columns of the preset's grid; all by default, reads only on targets that may not be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<Column>>,
    /// Wait mode of a preset's steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// A preset through the page cache, for filesystems without `O_DIRECT`.
    #[serde(default)]
    pub buffered: bool,
    /// Leave the laid-out file for the next run.
    #[serde(default)]
    pub keep_file: bool,
    /// Wait for the run that is on instead of being refused.
    #[serde(default)]
    pub queue: bool,
}

impl RunRequest {
    /// Works out and checks the plan: every error that does not depend on the target is found here.
    pub fn plan(&self) -> Result<RunSpec, ErrorBody> {
        let usage = |m: String| ErrorBody::new(ErrorCode::Usage, m);
        if self.target.is_empty() {
            return Err(usage("target is empty; name a directory, a file or a block device".into()));
        }
        if self.target.contains('\0') {
            return Err(usage("target contains a NUL byte, which no path can".into()));
        }
        if let Some(n) = self.repetitions.filter(|n| !(1..=100).contains(n)) {
            return Err(usage(format!("repetitions is {n}; it must be 1 to 100")));
        }
        let mut spec = match (&self.preset, self.workloads.as_slice()) {
            (Some(_), [_, ..]) => return Err(usage("give either preset or workloads, not both".into())),
            (None, []) => return Err(usage("give a preset or at least one workload".into())),
            (None, workloads) if workloads.len() > 256 => {
                return Err(usage(format!("{} workloads; at most 256 in one run", workloads.len())));
            }
            (None, workloads) => RunSpec::of_workloads(&self.target, workloads, self.repetitions.unwrap_or(1)),
            (Some(name), []) => {
                let request = PresetRequest {
                    name: name.clone(),
                    repetitions: self.repetitions,
                    size: self.size,
                    runtime: self.runtime,
                    pause: self.pause,
                    columns: self.columns.clone(),
                    wait: self.wait,
                    buffered: self.buffered,
                };
                RunSpec {
                    target: self.target.clone(),
                    steps: request.steps()?,
                    preset: Some(request),
                    keep_file: false,
                }
            }
        };
        spec.keep_file = self.keep_file;
        for step in &spec.steps {
            step.workload.validate().map_err(|e| usage(format!("{}: {e}", step.workload.label())))?;
        }
        Ok(spec)
    }
}

/// Answer to `POST /api/v1/runs`, status 202.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunCreated {
    /// Id of the run.
    pub id: RunId,
    /// `running` or `queued`.
    pub state: RunState,
}

/// A place where a run could go, for the page's target picker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TargetChoice {
    /// The target.
    pub target: TargetFacts,
    /// The drive under it.
    pub drive: Option<DriveFacts>,
    /// Why it cannot be used, if so.
    pub refused: Option<ErrorBody>,
}

/// `GET /api/v1/system`: what `brakecheck doctor` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SystemFacts {
    /// Version of the program.
    pub version: String,
    /// The machine.
    pub host: HostFacts,
    /// The engine.
    pub engine: EngineFacts,
}

/// `POST /api/v1/session`: exchanges the token of the URL fragment for a cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionRequest {
    /// The token.
    pub token: String,
}

/// `GET /api/v1/session`: what the caller may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Session {
    /// The caller's role.
    pub role: Role,
}

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything.
    Operator,
    /// Looks on, and sees neither serial numbers nor paths.
    Viewer,
}

/// `GET /api/v1/lan`: the listener for viewers on the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LanStatus {
    /// Whether an address was named at the start, so that it can be on.
    pub configured: bool,
    /// Whether it is on.
    pub on: bool,
    /// The address to open, while it is on.
    pub url: Option<String>,
    /// Who can reach it, in words, where that is more than one network.
    pub note: Option<String>,
    /// SHA-256 fingerprint of the certificate, as browsers show it, where connections are encrypted.
    pub fingerprint: Option<String>,
    /// An address of this host that could be named, where none was.
    pub candidate: Option<String>,
    /// Whether viewers must know a password.
    pub password: bool,
    /// Viewers now.
    pub viewers: u32,
}

/// What sockets of viewers are told when they end because the operator switched the listener off.
pub const SWITCHED_OFF: &str = "viewers are switched off";

/// `POST /api/v1/lan`: switches the listener for viewers on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct LanRequest {
    /// On or off.
    pub on: bool,
}

/// `GET /api/v1/runs/{id}`: the record with the preset's grid worked out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunDetail {
    /// The record.
    #[serde(flatten)]
    pub record: RunRecord,
    /// The preset's grid; empty for custom workloads.
    pub cells: Vec<Cell>,
}

/// `GET /api/v1/runs/{id}/export`: everything that is stored of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunExport {
    /// The record.
    pub record: RunRecord,
    /// The preset's grid; empty for custom workloads.
    pub cells: Vec<Cell>,
    /// All samples in order.
    pub samples: Vec<Sample>,
}
