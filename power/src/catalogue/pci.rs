//! Storage controllers on the PCI bus, and the switching-off of those that do nothing.

use super::about::{absent, instance};
use super::build::same;
use super::machine::Machine;
use super::spelling::RUNTIME_PM;
use crate::control::Control;
use crate::name::Name;
use crate::root::Dir;
use crate::site::Site;

/// A storage controller: an NVMe drive, an AHCI controller.
pub(super) struct Function<'a> {
    pub(super) address: Name,
    /// Class, subclass and programming interface: `0x010802`.
    pub(super) class: u32,
    pub(super) dir: Dir<'a>,
}

/// PCI functions of the class "mass storage", in the order of their addresses.
pub(super) fn storage<'a>(machine: &Machine<'a>) -> Vec<Function<'a>> {
    let Some(bus) = machine.root.dir("/sys/bus/pci/devices") else { return Vec::new() };
    let function = |name: &String| {
        let dir = bus.enter(name)?;
        let class = u32::from_str_radix(dir.read("class")?.trim_start_matches("0x"), 16).ok()?;
        (class >> 16 == 1).then_some(Function { address: Name::new(name)?, class, dir })
    };
    bus.names().iter().filter_map(function).collect()
}

/// `power/control` (Documentation/ABI/testing/sysfs-devices-power).
pub(super) fn runtime_pm(machine: &Machine<'_>) -> Vec<Control> {
    let id = "pci.runtime-pm";
    let control = |f: &Function<'_>| {
        let look = f.dir.look("power/control")?;
        let files = [(Site::RuntimePm { device: f.address.clone() }, look)];
        let runtime = instance(id, &f.address).uniform(machine.root, &files, &same(RUNTIME_PM), "");
        let state = f.dir.read("power/runtime_status").map(|s| format!("{s} now"));
        Some(runtime.saves(&["auto"]).performs(&["on"]).noting(state))
    };
    let controls: Vec<Control> = storage(machine).iter().filter_map(control).collect();
    or_absent(controls, id, "no storage controller on a PCI bus here")
}

/// What was found, or that there is none.
pub(super) fn or_absent(found: Vec<Control>, id: &str, reason: &str) -> Vec<Control> {
    if found.is_empty() { vec![absent(id, reason)] } else { found }
}
