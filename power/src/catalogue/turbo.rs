//! Frequencies above the base: one switch under three names.

use super::about::control;
use super::build::{Seen, words};
use super::machine::Machine;
use super::spelling::{REVERSED, SWITCH};
use crate::control::Control;
use crate::site::Site;

/// `intel_pstate` has a switch that says "no" (admin-guide/pm/intel_pstate.rst), others a global `boost`
/// (admin-guide/pm/cpufreq.rst) or, since Linux 6.11, one for each policy. The first that is there is used.
pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let single = |site: Site| Some(vec![(site.clone(), machine.root.look(&site.path(machine.root)?)?)]);
    let boost = words(&SWITCH);
    let (files, words) = if let Some(file) = single(Site::NoTurbo) {
        (file, words(&REVERSED))
    } else if let Some(file) = single(Site::Boost) {
        (file, boost)
    } else {
        (of_policies(machine), boost)
    };
    let absent = machine.lacking("no switch for it", "the CPU has no turbo, or its frequency driver no control of it");
    vec![control("cpu.turbo").uniform(machine.root, &files, &words, &absent).saves(&["off"]).performs(&["on"])]
}

fn of_policies(machine: &Machine<'_>) -> Vec<Seen> {
    let file = |p: &super::machine::Policy<'_>| Some((Site::PolicyBoost { policy: p.number }, p.dir.look("boost")?));
    machine.policies.iter().filter_map(file).collect()
}
