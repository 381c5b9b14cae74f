//! NVMe drives: how they sleep and how much power they may draw.

use super::about::instance;
use super::build::{Seen, unreadable, words};
use super::machine::{Machine, number};
use super::pci::or_absent;
use super::spelling::APST;
use crate::control::{Choice, Control, Write};
use crate::name::Name;
use crate::nvme::{self, PowerStateInfo};
use crate::root::Dir;
use crate::site::Site;

const NONE: &str = "no NVMe drive here";

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let controllers = controllers(machine);
    let apst_of = |c: &(Name, Dir<'_>)| apst(machine, c);
    let apst: Vec<Control> = controllers.iter().map(apst_of).collect();
    let states: Vec<Control> = controllers.iter().map(|(name, _)| power_state(machine, name)).collect();
    [or_absent(apst, "nvme.apst", NONE), or_absent(states, "nvme.power-state", NONE)].concat()
}

/// Controllers by name. A tree without classes has them as the parents of its disks.
fn controllers<'a>(machine: &Machine<'a>) -> Vec<(Name, Dir<'a>)> {
    let is_controller = |name: &str| number(name, "nvme").is_some();
    if let Some(class) = machine.root.dir("/sys/class/nvme") {
        let names = class.names().into_iter().filter(|n| is_controller(n));
        return names.filter_map(|n| Some((Name::new(&n)?, class.enter(&n)?))).collect();
    }
    let parents = machine.disks.iter().filter_map(|d| d.ancestors().nth(1)).filter(|d| is_controller(d.name()));
    let mut found: Vec<_> = parents.filter_map(|d| Some((Name::new(d.name())?, d))).collect();
    found.dedup_by(|a, b| a.0 == b.0);
    found
}

/// `pm_qos_latency_tolerance_us` of the controller (drivers/nvme/host/core.c): the driver reprograms the drive's table
/// of transitions at once, and again after each reset. 0 turns them off.
fn apst(machine: &Machine<'_>, (name, dir): &(Name, Dir<'_>)) -> Control {
    let look = dir.look("power/pm_qos_latency_tolerance_us");
    let files: Vec<Seen> = look.map(|l| (Site::Apst { controller: name.clone() }, l)).into_iter().collect();
    // What the driver gives each drive it finds.
    let default = machine.root.read("/sys/module/nvme_core/parameters/default_ps_max_latency_us");
    let default = default.and_then(|us| us.parse::<u32>().ok()).filter(|us| *us > 0);
    let mut choices = words(&APST);
    if let Some(us) = default {
        choices.insert(1, (format!("{us} us"), us.to_string()));
    }
    let mut apst = instance("nvme.apst", name).uniform(
        machine.root,
        &files,
        &choices,
        "this drive does not change its power state by itself",
    );
    if let Some(us) = apst.value.as_ref().and_then(|v| v.parse::<u32>().ok()) {
        apst.value = Some(format!("{us} us"));
    }
    let meaning = match apst.value.as_deref() {
        Some("off") => Some("never sleeps by itself"),
        Some("auto") => Some("sleeps as deeply as it can"),
        Some(_) => Some("sleeps no deeper than it can wake from in this time"),
        None => None,
    };
    apst.saves(&["auto"]).performs(&["off"]).noting(meaning)
}

/// Operational states limit what the drive draws while it works; the others are for sleeping and not for choosing. The
/// drive itself is asked, and asked again only if it has a choice.
fn power_state(machine: &Machine<'_>, name: &Name) -> Control {
    let site = Site::PowerState { controller: name.clone() };
    let knob = Control { source: site.source(machine.root), ..instance("nvme.power-state", name) };
    let Some(states) = nvme::power_states(machine.root, name) else {
        let reason = if machine.root.is_live() {
            "needs root, outside a container: start with sudo"
        } else {
            "only the drive itself tells, and this is a record of it"
        };
        return knob.because(Some(reason));
    };
    let choices: Vec<Choice> = states.iter().filter(|s| s.operational).map(|s| choice(&site, s)).collect();
    let value = match nvme::power_state(machine.root, name) {
        Ok(now) => now.to_string(),
        Err(errno) => return knob.because(Some(unreadable(errno))),
    };
    let in_force = choices.iter().find(|c| c.writes.iter().all(|w| w.value == value));
    let only = (choices.len() < 2).then_some("this drive has one operational power state");
    let ends = (choices.first().map(|c| c.value.clone()), choices.last().map(|c| c.value.clone()));
    Control {
        value: Some(in_force.map_or_else(|| format!("PS{value}"), |c| c.value.clone())),
        performance: ends.0,
        saving: ends.1,
        choices,
        ..knob.because(only)
    }
}

/// `PS0 (8.5 W)`.
fn choice(site: &Site, state: &PowerStateInfo) -> Choice {
    let watts = state.watts.map(|w| format!(" ({} W)", (w * 100.0).round() / 100.0)).unwrap_or_default();
    Choice {
        value: format!("PS{}{watts}", state.number),
        writes: vec![Write { site: site.clone(), value: state.number.to_string() }],
        disturbs: Vec::new(),
    }
}
