//! Sleep of PCI Express links: the policy for all, and the bits of single links.

use super::about::{control, instance};
use super::build::{Seen, same, words};
use super::machine::Machine;
use super::pci::{Function, or_absent, storage};
use super::spelling::SWITCH;
use crate::control::Control;
use crate::site::{LinkBit, Site};

const BITS: [(LinkBit, &str); 5] = [
    (LinkBit::L0s, "pcie.aspm-l0s"),
    (LinkBit::L1, "pcie.aspm-l1"),
    (LinkBit::L11, "pcie.aspm-l1.1"),
    (LinkBit::L12, "pcie.aspm-l1.2"),
    (LinkBit::ClockPm, "pcie.clock-pm"),
];

const FIRMWARE: &str = "firmware owns ASPM: the kernel refuses changes";

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let owned = firmware_owns(machine);
    let functions = storage(machine);
    let bits = BITS.iter().flat_map(|(bit, id)| of_links(machine, &functions, *bit, id, owned));
    std::iter::once(policy(machine, owned)).chain(bits).collect()
}

/// Where firmware keeps ASPM for itself (FADT, `_OSC`) or `pcie_aspm=off` is given, the policy file is there and every
/// write is refused; what tells is that no device has any file in `link/`.
fn firmware_owns(machine: &Machine<'_>) -> bool {
    let Some(bus) = machine.root.dir("/sys/bus/pci/devices") else { return machine.root.is_live() };
    let controllable = |name: &String| bus.enter(&format!("{name}/link")).is_some_and(|link| !link.names().is_empty());
    !bus.names().iter().any(controllable)
}

/// `pcie_aspm.policy` (admin-guide/kernel-parameters.rst).
fn policy(machine: &Machine<'_>, owned: bool) -> Control {
    let site = Site::AspmPolicy;
    let file = site.path(machine.root).and_then(|path| machine.root.look(&path));
    let files: Vec<Seen> = file.map(|look| (site, look)).into_iter().collect();
    let text = files.first().and_then(|(_, look)| look.text().ok()).unwrap_or_default();
    let offered: Vec<&str> = text.split_whitespace().map(|w| w.trim_matches(['[', ']'])).collect();
    control("pcie.aspm")
        .uniform(machine.root, &files, &same(offered), "this kernel does not manage PCI Express links")
        .saves(&["powersupersave", "powersave"])
        .performs(&["performance"])
        .because((!files.is_empty() && owned).then_some(FIRMWARE))
}

/// Files in `link/` (Documentation/ABI/testing/sysfs-bus-pci, Linux 5.5); a link has those that both its ends can do.
fn of_links(machine: &Machine<'_>, functions: &[Function<'_>], bit: LinkBit, id: &str, owned: bool) -> Vec<Control> {
    let control = |f: &Function<'_>| {
        let look = f.dir.look(&format!("link/{}", bit.file()))?;
        let files = [(Site::LinkBit { device: f.address.clone(), bit }, look)];
        let link = instance(id, &f.address).uniform(machine.root, &files, &words(&SWITCH), "");
        Some(link.saves(&["on"]).performs(&["off"]))
    };
    let controls: Vec<Control> = functions.iter().filter_map(control).collect();
    let reason = match (functions.is_empty(), owned) {
        (true, _) => "no storage controller on a PCI Express link here",
        (_, true) => FIRMWARE,
        _ => "no storage controller's link can do it",
    };
    or_absent(controls, id, reason)
}
