//! What is left open in an experiment, filled in for the host.

use crate::runner::drive;
use lab::design::relevant;
use power::Root;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::workloads::{CHECK, CHECK_TRIAL};
use protocol::experiment::{Design, ExperimentSpec, WorkloadChoice};
use protocol::power::PowerState;

/// The experiment with what was left open filled in: in a check, short trials of what shows most; in whatever changes
/// settings without naming them, those that can matter for the drive; in what asks about its queue or link, those of the
/// drive.
pub(super) fn fill(root: &Root, spec: &ExperimentSpec, state: &PowerState) -> Result<ExperimentSpec, ErrorBody> {
    let mut spec = spec.clone();
    if spec.design == Design::Check {
        if spec.workloads.is_empty() {
            spec.workloads = CHECK.map(|name| WorkloadChoice::Named(name.to_owned())).into();
        }
        spec.trial_seconds.get_or_insert(CHECK_TRIAL.0.0 as f64 / 1e6);
    }
    if leaves_open(&spec) {
        spec.knobs = choose(root, &spec, state)?;
    } else if let Some(kind) = of_the_drive(spec.design).filter(|_| spec.knobs.is_empty()) {
        spec.knobs = own(root, &spec, kind, state)?;
    }
    Ok(spec)
}

/// What is to be known of the choice, if anything: that the drive's own settings are not among those tried.
pub(super) fn note(root: &Root, spec: &ExperimentSpec) -> Option<String> {
    let unknown = leaves_open(spec) && matches!(drives(root, &spec.target), Ok(Drives::Unknown));
    unknown.then(|| format!("{}; no setting of a single drive is tried.", not_known(&spec.target)))
}

/// Whether it is for us to say which knobs are tried.
fn leaves_open(spec: &ExperimentSpec) -> bool {
    let by_knobs =
        matches!(spec.design, Design::Check | Design::OneAtATime | Design::Factorial | Design::Ladder | Design::Ab);
    by_knobs && spec.knobs.is_empty() && spec.rung.is_empty()
}

/// The kind of knob that a design is about, where each drive has its own.
fn of_the_drive(design: Design) -> Option<&'static str> {
    match design {
        Design::Ncq => Some("sata.ncq"),
        Design::PcieLink => Some("pcie.link-speed"),
        _ => None,
    }
}

/// The drives under a target.
enum Drives {
    /// Names of the devices from each of them to the host.
    Here(Vec<String>),
    /// The target lies on none that the kernel names: memory, a network, an overlay.
    Unknown,
    /// The machine is a recorded one, whose drives are not here.
    Recorded,
}

fn drives(root: &Root, target: &str) -> Result<Drives, ErrorBody> {
    let facts = engine::target::inspect(target).map_err(|e| e.body())?;
    if !root.is_live() {
        return Ok(Drives::Recorded);
    }
    let Some(drive) = drive(root, &facts) else { return Ok(Drives::Unknown) };
    let all = std::iter::once(&drive.name).chain(&drive.other_drives);
    Ok(Drives::Here(all.flat_map(|name| power::drive::path_names(root, name)).collect()))
}

fn not_known(target: &str) -> String {
    format!("Which drive {target} lies on is not known")
}

/// The knobs that can matter for the drives under the target. Of a recorded machine all that can matter for any.
fn choose(root: &Root, spec: &ExperimentSpec, state: &PowerState) -> Result<Vec<String>, ErrorBody> {
    let knobs = &state.knobs;
    if let Some(reason) = &state.read_only {
        return Err(ErrorBody::new(ErrorCode::NotPermitted, format!("No setting can be changed: {reason}.")));
    }
    let names = match drives(root, &spec.target)? {
        Drives::Here(names) => names,
        Drives::Unknown => Vec::new(),
        Drives::Recorded => knobs.iter().filter_map(|k| Some(k.id.split_once('@')?.1.to_owned())).collect(),
    };
    let chosen = relevant(knobs, &names.iter().map(String::as_str).collect::<Vec<_>>(), spec.design);
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let reason = knobs.iter().find_map(|k| k.reason.clone()).unwrap_or_else(|| "the kernel offers none".into());
    let error = format!("No setting that can matter for this drive can be changed here: {reason}.");
    Err(ErrorBody::new(ErrorCode::NotPermitted, error).hint("`brakecheck knobs` lists every setting, and why not."))
}

/// The knobs of this kind that belong to the drives under the target; other drives' are none of its business. Of a
/// recorded machine the plan takes all.
fn own(root: &Root, spec: &ExperimentSpec, kind: &str, state: &PowerState) -> Result<Vec<String>, ErrorBody> {
    let refused = |message| {
        ErrorBody::new(ErrorCode::NotPermitted, message).hint("Choose another question, or a target on another drive.")
    };
    let names = match drives(root, &spec.target)? {
        Drives::Recorded => return Ok(Vec::new()),
        Drives::Unknown => {
            return Err(refused(format!("{}, so its {kind} cannot be compared.", not_known(&spec.target))));
        }
        Drives::Here(names) => names,
    };
    let belongs =
        |id: &str| id.split_once('@').is_some_and(|(of, device)| of == kind && names.iter().any(|name| name == device));
    let chosen: Vec<_> = state.knobs.iter().map(|k| k.id.clone()).filter(|id| belongs(id)).collect();
    if chosen.is_empty() {
        return Err(refused(format!("The drive of this target has no {kind}.")));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::knob::Knob;

    /// A host with two drives' settings beside its own.
    fn state() -> PowerState {
        let knob = |id: &str| Knob {
            id: id.into(),
            values: vec!["saving".into(), "fast".into()],
            value: Some("saving".into()),
            saving_value: Some("saving".into()),
            performance_value: Some("fast".into()),
            writable: true,
            ..Knob::default()
        };
        let ids = [
            "cpu.turbo",
            "cpu.smt",
            "sata.link-power@host0",
            "nvme.apst@nvme0",
            "sata.ncq@sda",
            "pcie.link-speed@0000:01:00.0",
        ];
        PowerState { knobs: ids.map(knob).into(), ..PowerState::default() }
    }

    #[test]
    fn where_the_drive_is_not_known_no_drive_is_touched() {
        let root = Root::new("/").unwrap();
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        let target = dir.path().to_str().unwrap();
        for design in [Design::Check, Design::OneAtATime, Design::Factorial, Design::Ladder, Design::Ab] {
            let spec = ExperimentSpec::new(design, target);
            let asks_which = matches!(design, Design::Check | Design::OneAtATime);
            let expected: &[&str] = if asks_which { &["cpu.turbo"] } else { &["cpu.turbo", "cpu.smt"] };
            assert_eq!(fill(&root, &spec, &state()).unwrap().knobs, expected, "{design:?}");
            let said = format!("Which drive {target} lies on is not known; no setting of a single drive is tried.");
            assert_eq!(note(&root, &spec), Some(said));
        }
        for (design, kind) in [(Design::Ncq, "sata.ncq"), (Design::PcieLink, "pcie.link-speed")] {
            let error = fill(&root, &ExperimentSpec::new(design, target), &state()).unwrap_err();
            let said = format!("Which drive {target} lies on is not known, so its {kind} cannot be compared.");
            assert_eq!((error.code, error.message), (ErrorCode::NotPermitted, said));
        }
    }

    #[test]
    fn what_is_named_is_taken_as_it_is() {
        let root = Root::new("/").unwrap();
        let named = ExperimentSpec {
            knobs: vec!["nvme.apst@nvme0".into()],
            ..ExperimentSpec::new(Design::OneAtATime, "/dev/shm")
        };
        assert_eq!(fill(&root, &named, &state()).unwrap().knobs, named.knobs);
        assert_eq!(note(&root, &named), None);
    }

    #[test]
    fn a_recorded_machine_is_tried_whole() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        let spec = ExperimentSpec::new(Design::Check, "/dev/shm");
        assert_eq!(fill(&root, &spec, &state()).unwrap().knobs.len(), 5);
        assert_eq!(note(&root, &spec), None);
    }
}
