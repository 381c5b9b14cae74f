//! What is left open in an experiment, filled in for the host.

use crate::runner::drive;
use lab::design::relevant;
use power::Root;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::workloads::{CHECK, CHECK_TRIAL};
use protocol::experiment::{Design, ExperimentSpec, WorkloadChoice};
use protocol::power::PowerState;

/// The experiment with what was left open filled in: in a check, short trials of what shows most; in whatever asks which
/// setting costs what, the knobs that can matter for the drive; in what asks about its queue or link, those of the drive.
pub fn fill(root: &Root, spec: &ExperimentSpec, state: &PowerState) -> Result<ExperimentSpec, ErrorBody> {
    let mut spec = spec.clone();
    if spec.design == Design::Check {
        if spec.workloads.is_empty() {
            spec.workloads = CHECK.map(|name| WorkloadChoice::Named(name.to_owned())).into();
        }
        spec.trial_seconds.get_or_insert(CHECK_TRIAL.0.0 as f64 / 1e6);
    }
    if spec.knobs.is_empty() && matches!(spec.design, Design::Check | Design::OneAtATime) {
        spec.knobs = choose(root, &spec.target, state)?;
    }
    let of = match spec.design {
        Design::Ncq => "sata.ncq@",
        Design::PcieLink => "pcie.link-speed@",
        _ => return Ok(spec),
    };
    // Other drives' are none of its business; without any of its own, the plan says so.
    if spec.knobs.is_empty()
        && let Some(names) = path(root, &spec.target)?
    {
        let own = |id: &str| id.strip_prefix(of).is_some_and(|device| names.iter().any(|name| name == device));
        let ids = state.knobs.iter().filter(|k| k.id.starts_with(of)).map(|k| k.id.clone());
        spec.knobs = ids.filter(|id| own(id)).collect();
        if spec.knobs.is_empty() {
            let kind = of.trim_end_matches('@');
            return Err(ErrorBody::new(ErrorCode::NotPermitted, format!("The drive of this target has no {kind}."))
                .hint("Choose another question, or a target on another drive."));
        }
    }
    Ok(spec)
}

/// Names of the devices from the drive under the target to the host, where the drive is known.
fn path(root: &Root, target: &str) -> Result<Option<Vec<String>>, ErrorBody> {
    let facts = engine::target::inspect(target).map_err(|e| e.body())?;
    let drive = if root.is_live() { drive(root, &facts) } else { None };
    Ok(drive.map(|drive| power::drive::path_names(root, &drive.name)))
}

/// The knobs that can matter for the drive under the target. Of a recorded machine, whose drives are not here, all that
/// can matter for any.
fn choose(root: &Root, target: &str, state: &PowerState) -> Result<Vec<String>, ErrorBody> {
    let knobs = &state.knobs;
    if let Some(reason) = &state.read_only {
        return Err(ErrorBody::new(ErrorCode::NotPermitted, format!("No setting can be changed: {reason}.")));
    }
    let names = match path(root, target)? {
        Some(names) => names,
        None => knobs.iter().filter_map(|k| Some(k.id.split_once('@')?.1.to_owned())).collect(),
    };
    let chosen = relevant(knobs, &names.iter().map(String::as_str).collect::<Vec<_>>());
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let reason = knobs.iter().find_map(|k| k.reason.clone()).unwrap_or_else(|| "the kernel offers none".into());
    let error = format!("No setting that can matter for this drive can be changed here: {reason}.");
    Err(ErrorBody::new(ErrorCode::NotPermitted, error).hint("`brakecheck knobs` lists every setting, and why not."))
}
