//! Idle states: how deep an idle CPU may go, and C1E by itself.
//!
//! Files: `cpuidle/stateM/{name,latency,disable,default_status}` of each CPU
//! (Documentation/ABI/testing/sysfs-devices-system-cpu). A state stays in use as long as one CPU allows it, so each
//! choice writes to all of them.

use super::about::control;
use super::build::{Seen, agreed, readable, words};
use super::latency;
use super::machine::{Cpu, Machine};
use super::spelling::REVERSED;
use crate::control::{Choice, Control, Write};
use crate::look::Look;
use crate::site::Site;
use std::collections::BTreeMap;

/// More than any kernel has (`CPUIDLE_STATE_MAX` is 10).
const MAX_STATES: u32 = 32;

/// One idle state of one CPU.
pub(super) struct State {
    index: u32,
    pub(super) name: String,
    /// Time to leave it in microseconds.
    pub(super) latency: u32,
    disable: Look,
    /// Kept off by the driver, whatever `disable` says of the user's wish.
    pub(super) off: bool,
}

impl State {
    /// Spins instead of sleeping.
    pub(super) fn is_polling(&self) -> bool {
        self.name == "POLL"
    }
}

/// Idle states of one CPU, shallowest first.
pub(super) struct States {
    cpu: u32,
    pub(super) states: Vec<State>,
}

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let table: Vec<States> = machine.online().map(of_cpu).filter(|s| !s.states.is_empty()).collect();
    let missing = no_driver(machine);
    vec![
        deep_idle(machine, &table, &missing),
        c1e(machine, &table, &missing),
        latency::limit(machine, &table, &missing),
    ]
}

fn of_cpu(cpu: &Cpu<'_>) -> States {
    let state = |index: u32| {
        let file = |name: &str| format!("cpuidle/state{index}/{name}");
        let name = cpu.dir.read(&file("name"))?;
        let disable = cpu.dir.look(&file("disable"))?;
        let latency = cpu.dir.parse(&file("latency")).unwrap_or_default();
        let off = cpu.dir.read(&file("default_status")).as_deref() == Some("disabled");
        Some(State { index, name, latency, disable, off })
    };
    // Their numbers have no gaps.
    States { cpu: cpu.number, states: (0..MAX_STATES).map_while(state).collect() }
}

/// Why there are no idle states.
fn no_driver(machine: &Machine<'_>) -> String {
    let cmdline = machine.root.read("/proc/cmdline").unwrap_or_default();
    let switch = cmdline.split_whitespace().find(|w| ["idle=", "cpuidle.off="].iter().any(|k| w.starts_with(k)));
    match switch {
        Some(switch) => format!("no idle driver: the kernel was started with {switch}"),
        None => machine.lacking("no idle driver", "firmware describes no idle states"),
    }
}

/// Names of states that can be chosen, shallowest first, with the range of their latencies over all CPUs.
fn names(table: &[States]) -> Vec<(String, u32, u32)> {
    let mut names: BTreeMap<&str, (u32, u32, u32)> = BTreeMap::new();
    for state in table.iter().flat_map(|s| &s.states).filter(|s| !s.off) {
        let (low, high, index) = names.entry(&state.name).or_insert((state.latency, state.latency, state.index));
        (*low, *high, *index) = ((*low).min(state.latency), (*high).max(state.latency), (*index).max(state.index));
    }
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_by_key(|(_, (_, high, index))| (*high, *index));
    names.into_iter().map(|(name, (low, high, _))| (name.to_owned(), low, high)).collect()
}

/// States that may be written: those the driver keeps off are left alone.
fn files(table: &[States]) -> Vec<Seen> {
    let of = |s: &States| -> Vec<Seen> {
        let file = |state: &State| (site(s.cpu, state), state.disable.clone());
        s.states.iter().filter(|state| !state.off).map(file).collect()
    };
    table.iter().flat_map(of).collect()
}

fn site(cpu: u32, state: &State) -> Site {
    Site::IdleDisable { cpu, state: state.index }
}

fn deep_idle(machine: &Machine<'_>, table: &[States], missing: &str) -> Control {
    let files = files(table);
    let now = readable(&files);
    let names = names(table);
    let sleeping: Vec<_> = names.iter().filter(|(name, ..)| name != "POLL").collect();
    let choice = |name: &str, latency: u32| {
        let writes = |s: &States| -> Vec<Write> {
            let last = deepest_allowed(s, name, latency);
            let write = |state: &State| {
                let value = if state.index <= last { "0" } else { "1" };
                Write { site: site(s.cpu, state), value: value.into() }
            };
            let usable = s.states.iter().filter(|state| !state.off);
            usable.map(write).filter(|w| now.contains_key(&w.site)).collect()
        };
        Choice { value: name.to_owned(), writes: table.iter().flat_map(writes).collect(), disturbs: Vec::new() }
    };
    let polling = names.iter().filter(|(name, ..)| name == "POLL");
    let choices: Vec<Choice> =
        sleeping.iter().copied().chain(polling).map(|(name, _, high)| choice(name, *high)).collect();
    let by_cpu = || agreed(table.iter().map(|s| in_words(s, &now)));
    let mut idle = control("cpu.deep-idle").chosen(machine.root, &files, choices, by_cpu, missing);
    let kept: Vec<&str> =
        table.first().into_iter().flat_map(|s| &s.states).filter(|s| s.off).map(|s| &*s.name).collect();
    let wake = names.iter().find(|(name, ..)| Some(name) == idle.value.as_ref()).map(|(_, low, high)| {
        if low == high { format!("{high} us to wake") } else { format!("{low} to {high} us to wake") }
    });
    idle.performance = sleeping.first().map(|(name, ..)| name.clone());
    idle.saving = sleeping.last().map(|(name, ..)| name.clone());
    idle.noting(wake).noting((!kept.is_empty()).then(|| format!("the driver keeps {} off", kept.join(", "))))
}

/// Index of the last state that a choice allows on this CPU: that of the name; on a core of another kind that lacks
/// it, of what wakes as fast.
fn deepest_allowed(s: &States, name: &str, latency: u32) -> u32 {
    let named = s.states.iter().rev().find(|state| state.name == name);
    let as_fast = || s.states.iter().rev().find(|state| state.latency <= latency);
    named.or_else(as_fast).map_or(0, |state| state.index)
}

/// What one CPU allows, when it is no choice: `C6 without C1E`.
fn in_words(s: &States, now: &BTreeMap<Site, String>) -> String {
    let usable: Vec<&State> = s.states.iter().filter(|state| !state.off).collect();
    let allowed = |state: &&&State| now.get(&site(s.cpu, state)).is_none_or(|v| v == "0");
    let Some(deepest) = usable.iter().rev().find(allowed) else { return "none".into() };
    let shallower = usable.iter().take_while(|state| state.index < deepest.index);
    let barred: Vec<&str> = shallower.filter(|state| !allowed(state)).map(|state| &*state.name).collect();
    if barred.is_empty() { deepest.name.clone() } else { format!("{} without {}", deepest.name, barred.join(", ")) }
}

/// The idle state of that name. Whether C1 becomes C1E by itself is firmware's doing, in a register that is not touched.
fn c1e(machine: &Machine<'_>, table: &[States], missing: &str) -> Control {
    let is_c1e = |state: &&State| state.name.split('_').next() == Some("C1E");
    let of = |s: &States| {
        let state = s.states.iter().find(is_c1e)?;
        Some((s.cpu, state.off, (site(s.cpu, state), state.disable.clone())))
    };
    let found: Vec<_> = table.iter().filter_map(of).collect();
    let off = !found.is_empty() && found.iter().all(|(_, off, _)| *off);
    let files: Vec<Seen> = found.into_iter().filter(|(_, off, _)| !off).map(|(_, _, file)| file).collect();
    let absent = match (table.is_empty(), off) {
        (true, _) => missing,
        (_, true) => "the idle driver keeps C1E off",
        _ => "no idle state of this name; whether C1 becomes C1E by itself is set in firmware",
    };
    let c1e = control("cpu.c1e").uniform(machine.root, &files, &words(&REVERSED), absent);
    // Where it is the lightest sleep, doing without it means spinning, or falling into a deeper one.
    let lighter = table.iter().any(|s| {
        let before = s.states.iter().take_while(|state| !is_c1e(state));
        before.filter(|state| !state.is_polling() && !state.off).count() > 0
    });
    let only = (!files.is_empty() && !lighter).then_some("the lightest sleep of this CPU");
    c1e.saves(&["on"]).performs(if lighter { &["off"] } else { &["on"] }).noting(only)
}
