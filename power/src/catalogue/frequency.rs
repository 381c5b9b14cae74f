//! Who chooses the frequency, and how eagerly: governor, EPP, EPB.

use super::about::{absent, control};
use super::build::{Seen, same, words};
use super::machine::{Machine, Policy};
use super::spelling::EPB;
use crate::control::Control;
use crate::site::Site;

/// What `amd-pstate` and `intel_pstate` both know (admin-guide/pm/amd-pstate.rst), most saving last.
const PREFERENCES: [&str; 4] = ["performance", "balance_performance", "balance_power", "power"];

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    vec![governor(machine), epp(machine), epb(machine)]
}

fn of_policies(machine: &Machine<'_>, name: &str, site: impl Fn(u32) -> Site) -> Vec<Seen> {
    let file = |p: &Policy<'_>| Some((site(p.number), p.dir.look(name)?));
    machine.policies.iter().filter_map(file).collect()
}

/// Words of a list file that every policy has, in the first one's order.
fn offered(machine: &Machine<'_>, name: &str) -> Vec<String> {
    // One line; a recorded tree may repeat it.
    let list = |p: &Policy<'_>| -> Vec<String> {
        let text = p.dir.read(name).unwrap_or_default();
        text.lines().next().unwrap_or_default().split_whitespace().map(Into::into).collect()
    };
    let mut lists = machine.policies.iter().map(list);
    let first = lists.next().unwrap_or_default();
    lists.fold(first, |all, list| all.into_iter().filter(|word| list.contains(word)).collect())
}

/// Why there is no frequency scaling.
pub(super) fn no_scaling(machine: &Machine<'_>) -> String {
    machine.lacking("no frequency scaling", "switched off in firmware (SpeedStep, Cool'n'Quiet), or no driver for it")
}

fn governor(machine: &Machine<'_>) -> Control {
    let files = of_policies(machine, "scaling_governor", |policy| Site::Governor { policy });
    // `userspace` is a promise that some program will set the frequency.
    let governors = offered(machine, "scaling_available_governors");
    let choices = same(governors.iter().map(String::as_str).filter(|g| *g != "userspace"));
    let driver = machine.policies.iter().find_map(|p| p.dir.read("scaling_driver"));
    // In these two drivers, `powersave` is the one that follows load.
    let follows = matches!(driver.as_deref(), Some("intel_pstate" | "amd-pstate-epp"));
    let pinned = "powersave keeps the lowest frequency with this driver";
    control("cpu.governor")
        .uniform(machine.root, &files, &choices, &no_scaling(machine))
        .saves(&["powersave"])
        .performs(&["performance"])
        .noting((!files.is_empty() && !follows && governors.iter().any(|g| g == "powersave")).then_some(pinned))
}

fn epp(machine: &Machine<'_>) -> Control {
    let files = of_policies(machine, "energy_performance_preference", |policy| Site::Epp { policy });
    if files.is_empty() {
        return absent("cpu.epp", "this CPU has no energy performance preference");
    }
    let locked = machine.policies.iter().any(|p| p.dir.read("scaling_governor").as_deref() == Some("performance"));
    let mut preferences = offered(machine, "energy_performance_available_preferences");
    // amd-pstate hides the others while its governor is `performance`; they are back when that goes.
    if locked && preferences == ["performance"] {
        preferences = PREFERENCES.map(Into::into).to_vec();
    }
    // `default` is whatever firmware left, and reads back under another name.
    let choices = same(preferences.iter().map(String::as_str).filter(|p| *p != "default"));
    let lock = "the governor performance admits only performance";
    control("cpu.epp")
        .uniform(machine.root, &files, &choices, "")
        .saves(&["power"])
        .performs(&["performance"])
        .noting(locked.then_some(lock))
}

fn epb(machine: &Machine<'_>) -> Control {
    let file = |c: &super::machine::Cpu<'_>| Some((Site::Epb { cpu: c.number }, c.dir.look("power/energy_perf_bias")?));
    let files: Vec<Seen> = machine.online().filter_map(file).collect();
    let names = words(&EPB);
    let has_epp = machine.policies.iter().any(|p| p.dir.look("energy_performance_preference").is_some());
    let ignored = "the CPU goes by its EPP instead";
    control("cpu.epb")
        .uniform(machine.root, &files, &names, "this CPU has no energy performance bias")
        .saves(&["power"])
        .performs(&["performance"])
        .noting((!files.is_empty() && has_epp).then_some(ignored))
}
