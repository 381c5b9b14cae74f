//! NVMe drives: how they sleep and how much power they may draw.

use super::about::instance;
use super::build::{Seen, words};
use super::machine::{Machine, number};
use super::pci::or_absent;
use crate::control::Control;
use crate::name::Name;
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
    let mut choices = words(&[("off", "0"), ("auto", "auto")]);
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

/// Power states are asked of the drive itself.
fn power_state(machine: &Machine<'_>, name: &Name) -> Control {
    let site = Site::PowerState { controller: name.clone() };
    let source = site.source(machine.root);
    Control { source, ..instance("nvme.power-state", name) }.because(Some("needs root to be read: start with sudo"))
}
