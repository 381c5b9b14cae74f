//! Where the panels come from that are drawn here: the result store, and the host as it is.

use crate::experiment;
use crate::mask;
use crate::report::kiosk::{HostScreen, grid, host, ladder, verdict};
use crate::runner::Runner;
use crate::settings::Settings;
use power::Root;
use protocol::api::Role;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{Design, ExperimentSummary};
use protocol::host::DriveFacts;
use protocol::kiosk::Panel;
use protocol::power::PowerState;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Mutex, PoisonError};

/// Runs among which the last one of a preset is looked for.
const RECENT: usize = 20;

/// What was drawn last: screens come round every minute, and an experiment takes a while to judge.
static DRAWN: Mutex<Vec<(Key, String)>> = Mutex::new(Vec::new());
/// Panels that are kept: two for each role, for a server or two in one process.
const KEPT: usize = 8;

/// What a drawing depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    role: Role,
    panel: Panel,
    /// Ids, states and ends of what could be shown.
    of: String,
}

/// A panel as a piece of HTML for those of `role`; empty where there is nothing to show.
pub(crate) fn screen(runner: &Runner, settings: &Settings, role: Role, panel: Panel) -> Result<String, ErrorBody> {
    match panel {
        // The page draws it from the stream.
        Panel::Run => Ok(String::new()),
        Panel::Verdict => last_verdict(runner, role),
        Panel::Ladder => last_ladder(runner, role),
        Panel::Host => Ok(host(&for_role(role, host_now(runner, settings)?)?)),
    }
}

fn for_role<T: Serialize + DeserializeOwned>(role: Role, value: T) -> Result<T, ErrorBody> {
    match role {
        Role::Operator => Ok(value),
        Role::Viewer => mask::masked(&value)
            .map_err(|e| ErrorBody::new(ErrorCode::Internal, format!("The panel cannot be masked: {e}."))),
    }
}

/// Draws, unless it was drawn already.
fn drawn(key: Key, draw: impl FnOnce() -> Result<String, ErrorBody>) -> Result<String, ErrorBody> {
    let known = || DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, html)) = known().iter().find(|(k, _)| *k == key) {
        return Ok(html.clone());
    }
    let html = draw()?;
    let mut known = known();
    if known.len() >= KEPT {
        known.remove(0);
    }
    known.push((key, html.clone()));
    Ok(html)
}

fn of(experiments: &[ExperimentSummary]) -> String {
    let one = |e: &ExperimentSummary| format!("{} {:?} {:?};", e.id, e.finished_at, e.headline);
    experiments.iter().map(one).collect()
}

fn last_verdict(runner: &Runner, role: Role) -> Result<String, ErrorBody> {
    let mut all = experiment::list(runner)?;
    all.retain(|e| e.state.ended() && e.headline.is_some());
    all.truncate(3);
    drawn(Key { role, panel: Panel::Verdict, of: of(&all) }, || {
        let Some((newest, earlier)) = all.split_first() else { return Ok(String::new()) };
        let file = experiment::export(runner, &newest.id)?;
        Ok(verdict(&for_role(role, file)?, &for_role(role, earlier.to_vec())?))
    })
}

/// The newest of the last ladder and the last run of a preset.
fn last_ladder(runner: &Runner, role: Role) -> Result<String, ErrorBody> {
    let is_ladder = |d: Design| matches!(d, Design::Ladder | Design::X58Gigabyte | Design::X58Supermicro);
    let experiments = experiment::list(runner)?;
    let newest = experiments.iter().find(|e| e.state.ended() && e.headline.is_some() && is_ladder(e.design));
    let since = newest.map_or("", |e| e.id.as_str());
    // Ids sort by time.
    let runs = runner.store().list()?.into_iter().filter(|r| r.state.ended() && r.headline.is_some());
    let runs: Vec<String> = runs.take(RECENT).map(|r| r.id).filter(|id| id.as_str() > since).collect();
    let key = format!("{}{}", newest.map(|e| of(std::slice::from_ref(e))).unwrap_or_default(), runs.join(" "));
    drawn(Key { role, panel: Panel::Ladder, of: key }, || {
        for id in &runs {
            let record = runner.store().get(id)?;
            if record.spec.preset.is_some() {
                let html = grid(&for_role(role, record)?);
                if !html.is_empty() {
                    return Ok(html);
                }
            }
        }
        let Some(newest) = newest else { return Ok(String::new()) };
        Ok(ladder(&for_role(role, experiment::export(runner, &newest.id)?)?))
    })
}

fn host_now(runner: &Runner, settings: &Settings) -> Result<HostScreen, ErrorBody> {
    let root = runner.root();
    let state = settings.recent()?;
    Ok(HostScreen {
        host: power::host::facts(root),
        drive: last_drive(runner)?,
        load: settings.telemetry(),
        governor: governor(&state),
        changed: changed(&state),
        uptime: uptime(root),
    })
}

/// The drive that was measured last, as it is now.
fn last_drive(runner: &Runner) -> Result<Option<DriveFacts>, ErrorBody> {
    let run = runner.store().list()?.first().map(|r| r.id.clone());
    let experiment = runner.store().experiments()?.into_iter().next();
    let (target, then) = match (run, experiment) {
        (Some(run), experiment) if experiment.as_ref().is_none_or(|e| *e < run) => {
            let record = runner.store().get(&run)?;
            (record.target, record.drive)
        }
        (_, Some(experiment)) => {
            let record = runner.store().experiment(&experiment)?.record;
            // One that was brought here says nothing of this host's drives.
            if record.imported {
                return Ok(None);
            }
            (record.target, record.drive)
        }
        (_, None) => return Ok(None),
    };
    let now = target.dev.and_then(|dev| power::drive::facts(runner.root(), dev));
    Ok(now.filter(|now| then.as_ref().is_some_and(|then| then.name == now.name)).or(then))
}

fn governor(state: &PowerState) -> Option<String> {
    state.knobs.iter().find(|k| k.id == "cpu.governor").and_then(|k| k.value.clone())
}

fn changed(state: &PowerState) -> Vec<String> {
    use protocol::knob::Origin;
    let ours = state.knobs.iter().filter(|k| k.origin == Origin::Ours);
    ours.map(|k| format!("{} {}", k.title, k.value.as_deref().unwrap_or("?"))).collect()
}

/// `/proc/uptime`: seconds since the start, a blank, seconds idle (proc(5)).
fn uptime(root: &Root) -> Option<f64> {
    root.read("/proc/uptime")?.split_whitespace().next()?.parse().ok().filter(|s: &f64| s.is_finite() && *s >= 0.0)
}
