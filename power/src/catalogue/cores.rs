//! Threads and CPUs. Neither is part of a saving profile: taking CPUs away saves, but it is not what makes drives slow.

use super::about::control;
use super::build::{Seen, words};
use super::machine::{CPU, Cpu, Machine};
use super::spelling::SMT;
use crate::control::{Choice, Control, Write};
use crate::drive;
use crate::site::Site;
use std::collections::BTreeSet;

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let control = machine.root.look(&format!("{CPU}/smt/control"));
    let state = control.as_ref().and_then(|l| l.text().ok()).unwrap_or_default();
    let file = control.map(|look| (Site::Smt, look));
    vec![smt(machine, file, &state), cores(machine, &state)]
}

/// `smt/control` (Documentation/ABI/testing/sysfs-devices-system-cpu). `forceoff` holds until a restart and is never
/// written.
fn smt(machine: &Machine<'_>, file: Option<Seen>, state: &str) -> Control {
    let files: Vec<Seen> = file.into_iter().collect();
    let reason = match state {
        "notsupported" => Some("this CPU has one thread on each core, or firmware has turned the others off"),
        "notimplemented" => Some("this kernel cannot switch threads"),
        "forceoff" => Some("forced off until the next restart"),
        _ => None,
    };
    let mut smt = control("cpu.smt").uniform(machine.root, &files, &words(&SMT), "this kernel cannot switch threads");
    // Turning threads on brings every CPU online, those too that somebody had taken offline one by one.
    let offline = machine.cpus.iter().filter(|c| !c.online && c.switch.is_some());
    let disturbs: Vec<Site> = offline.map(|c| Site::CpuOnline { cpu: c.number }).collect();
    for choice in &mut smt.choices {
        choice.disturbs.clone_from(&disturbs);
    }
    smt.performs(&["on"]).because(reason)
}

fn cores(machine: &Machine<'_>, smt: &str) -> Control {
    let switchable = |c: &&Cpu<'_>| c.switch.is_some();
    let files: Vec<Seen> =
        machine.cpus.iter().filter_map(|c| Some((Site::CpuOnline { cpu: c.number }, c.switch.clone()?))).collect();
    let order = in_order_of_need(machine);
    let needed = needed(machine).len();
    let total = order.len();
    let choice = |value: String, count: usize| {
        let kept: BTreeSet<u32> = order.iter().take(count).copied().collect();
        let write = |c: &Cpu<'_>| {
            let value = if kept.contains(&c.number) { "1" } else { "0" };
            Write { site: Site::CpuOnline { cpu: c.number }, value: value.into() }
        };
        let writes = machine.cpus.iter().filter(switchable).map(write).collect();
        Choice { value, writes, disturbs: Vec::new() }
    };
    let mut counts = vec![total / 2, 4, 2, 1];
    counts.retain(|n| (needed.max(1)..total).contains(n));
    counts.sort_unstable_by_key(|n| std::cmp::Reverse(*n));
    counts.dedup();
    let mut choices = vec![choice("all".into(), total)];
    choices.extend(counts.into_iter().map(|n| choice(n.to_string(), n)));
    let online = machine.online().count();
    let threads_off = matches!(smt, "off" | "forceoff") && online < total;
    let reason = "threads are off (cpu.smt): the kernel would refuse to start theirs";
    let mut cores = control("cpu.cores").chosen(
        machine.root,
        &files,
        if files.is_empty() { Vec::new() } else { choices },
        || (online > 0).then(|| online.to_string()),
        "this kernel cannot take CPUs offline",
    );
    if cores.value.as_deref() == Some("all") {
        cores.detail = Some(format!("{total} CPUs"));
    }
    cores.performs(&["all"]).because(threads_off.then_some(reason))
}

/// CPUs that stay whatever is chosen: the first, those that have no switch, and one near each drive under measurement.
fn needed(machine: &Machine<'_>) -> BTreeSet<u32> {
    let fixed = machine.cpus.iter().filter(|c| c.switch.is_none()).map(|c| c.number);
    let mut needed: BTreeSet<u32> = machine.cpus.first().map(|c| c.number).into_iter().chain(fixed).collect();
    for name in &machine.hints.drives {
        let near = drive::cpus_of(machine.root, name);
        if !near.iter().any(|cpu| needed.contains(cpu)) {
            needed.extend(near.into_iter().find(|n| machine.cpus.iter().any(|c| c.number == *n)));
        }
    }
    needed
}

/// All CPUs, those that must stay first.
fn in_order_of_need(machine: &Machine<'_>) -> Vec<u32> {
    let needed = needed(machine);
    let others = machine.cpus.iter().map(|c| c.number).filter(|n| !needed.contains(n));
    needed.iter().copied().chain(others).collect()
}
