//! The two ladders of "Does power saving kill SSD performance?" (2009, Core i7-920 on X58), as far as a host has
//! counterparts of their BIOS settings.

use super::factor::{Factor, as_found, kind};
use super::idle;
use super::ladder::climb;
use super::plan::{Plan, PlanError};
use protocol::experiment::{Configuration, ExperimentSpec, Unmapped};
use protocol::knob::{Assignment, Knob};

type Kinds = &'static [&'static [&'static str]];

/// A setting of the BIOS.
pub(super) struct Setting {
    /// Its name there.
    name: &'static str,
    /// Kinds of knobs that do the same today; the first set of which this host has any.
    kinds: Kinds,
    /// The first run in which it is disabled; none if it stays enabled.
    off_from: Option<usize>,
    /// Whether "enabled" is the value that saves. Turbo Boost, cores and threads perform when enabled.
    saves: bool,
    /// Why there may be no counterpart, if none of its knobs says why.
    else_reason: &'static str,
}

const fn saving(name: &'static str, kinds: Kinds, off_from: Option<usize>) -> Setting {
    Setting { name, kinds, off_from, saves: true, else_reason: "this machine has no such setting" }
}

const fn performing(name: &'static str, kinds: Kinds) -> Setting {
    Setting { name, kinds, off_from: None, saves: false, else_reason: "this machine has no such setting" }
}

const fn fixed(name: &'static str, kinds: Kinds, off_from: Option<usize>) -> Setting {
    Setting { name, kinds, off_from, saves: true, else_reason: "firmware alone decides it; no operating system can" }
}

const SPEED_STEP: Kinds = &[&["cpu.governor", "cpu.epp", "cpu.epb", "cpu.frequency-floor"]];
const ASPM: Kinds = &[&["pcie.aspm"], &["pcie.aspm-l0s", "pcie.aspm-l1", "pcie.aspm-l1.1", "pcie.aspm-l1.2"]];

/// Gigabyte EX58-UD4P.
pub(super) const GIGABYTE: [Setting; 10] = [
    performing("Turbo Boost", &[&["cpu.turbo"]]),
    performing("CPU cores enabled", &[&["cpu.cores"]]),
    performing("Multi-threading", &[&["cpu.smt"]]),
    saving("Enhanced halt (C1E)", &[&["cpu.c1e"]], Some(4)),
    saving("C3/C6/C7", &[&["cpu.deep-idle"]], Some(2)),
    fixed("Thermal Monitor", &[&["cpu.thermal-monitor"]], Some(3)),
    saving("EIST (SpeedStep)", SPEED_STEP, Some(5)),
    fixed("Virtualization Technology", &[&["cpu.virtualization"]], Some(6)),
    fixed("Bi-directional PROCHOT", &[&["cpu.prochot"]], None),
    performing("Power plan: High performance", &[&["platform.profile"]]),
];

/// Supermicro X8SAX.
pub(super) const SUPERMICRO: [Setting; 6] = [
    saving("EIST (SpeedStep)", SPEED_STEP, Some(5)),
    saving("C1E", &[&["cpu.c1e"]], Some(4)),
    fixed("Virtualization Technology", &[&["cpu.virtualization"]], Some(6)),
    saving("C-state technology", &[&["cpu.deep-idle"]], Some(3)),
    saving("PCIe ASPM", ASPM, Some(2)),
    performing("Power plan: High performance", &[&["platform.profile"]]),
];

const RUNS: usize = 6;

/// The runs that differ on this host.
pub(super) fn plan(spec: &ExperimentSpec, knobs: &[Knob], board: &[Setting]) -> Result<Plan, PlanError> {
    let mut unmapped = Vec::new();
    let mut mapped: Vec<(&Setting, Vec<&Knob>)> = Vec::new();
    for setting in board {
        let of = |kinds: &[&str]| knobs.iter().filter(|k| kinds.contains(&kind(&k.id))).collect::<Vec<_>>();
        let usable = |k: &&&Knob| k.risk.is_none() && Factor::of(k).is_some();
        let any = setting.kinds.iter().map(|kinds| of(kinds).iter().filter(usable).copied().collect::<Vec<_>>());
        let usable = any.into_iter().find(|some| !some.is_empty()).unwrap_or_default();
        if usable.is_empty() {
            let said = setting.kinds.iter().find_map(|kinds| of(kinds).iter().find_map(|k| k.reason.clone()));
            let here = setting.kinds.iter().find_map(|kinds| of(kinds).into_iter().find(|k| k.writable));
            let kept = |knob| kept(setting, knob);
            let reason = said.or_else(|| here.map(kept)).unwrap_or_else(|| setting.else_reason.to_owned());
            unmapped.push(Unmapped { setting: setting.name.into(), reason });
        } else {
            mapped.push((setting, usable));
        }
    }
    let mut configurations: Vec<Configuration> = Vec::new();
    for run in 1..=RUNS {
        let mut set = Vec::new();
        for (setting, knobs) in &mapped {
            let enabled = setting.off_from.is_none_or(|off| run < off);
            for knob in knobs {
                let value = if enabled == setting.saves { &knob.saving_value } else { &knob.performance_value };
                set.extend(value.clone().map(|value| Assignment { id: knob.id.clone(), value }));
            }
        }
        let off: Vec<_> = board.iter().filter(|s| s.off_from == Some(run)).map(|s| s.name).collect();
        let name = if off.is_empty() { format!("run {run}") } else { format!("run {run}: {} off", off.join(", ")) };
        // Their C1E stays enabled by itself where the deeper states are disabled: the depth is then C1E.
        let contradiction = |reason| PlanError::Contradiction { rung: name.clone(), reason };
        idle::agree(&mut set, idle::C1E, knobs).map_err(contradiction)?;
        match configurations.last() {
            Some(last) if last.set == set => {
                let reason = "it changes nothing that can be changed here, so it is left out".into();
                unmapped.push(Unmapped { setting: name, reason });
            }
            _ => configurations.push(Configuration { name, set, wait: None }),
        }
    }
    if configurations.len() < 2 {
        let why = unmapped.iter().map(|u| format!("{} ({})", u.setting, u.reason)).collect::<Vec<_>>().join("; ");
        let reason = format!("no run of it differs from another on this machine: {why}");
        return Err(PlanError::Nothing { design: spec.design, reason });
    }
    Ok(Plan { unmapped, ..climb(configurations, knobs) })
}

/// Why a knob that this host has is left as it is.
fn kept(setting: &Setting, knob: &Knob) -> String {
    let now = as_found(knob).map(|v| format!(" ({v})")).unwrap_or_default();
    let why = match (&knob.risk, setting.off_from) {
        (Some(risk), _) => format!("setting it is a risk: {risk}"),
        (None, None) => "it is the same in all runs".into(),
        (None, Some(_)) => {
            let detail = knob.detail.as_ref().map(|d| format!(" ({d})")).unwrap_or_default();
            format!("nothing performs better here without it{detail}")
        }
    };
    format!("{} stays as it was found{now}: {why}", knob.id)
}
