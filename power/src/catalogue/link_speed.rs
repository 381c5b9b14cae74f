//! The rate of the link to a drive.

use super::about::instance;
use super::build::Seen;
use super::machine::Machine;
use super::pci::{Function, or_absent, storage};
use crate::control::Control;
use crate::drive;
use crate::in_use;
use crate::name::Name;
use crate::root::Dir;
use crate::site::Site;
use std::collections::BTreeMap;

const ID: &str = "pcie.link-speed";

/// Rates by generation.
const SPEEDS: [&str; 6] = ["2.5 GT/s", "5 GT/s", "8 GT/s", "16 GT/s", "32 GT/s", "64 GT/s"];

const RISK: &str = "the drive can vanish from the bus when its link is retrained";

/// Through the cooling devices of bwctrl (Linux 6.13, drivers/pci/pcie/bwctrl.c): state 0 is the highest rate, each
/// further state the next lower one down to 2.5 GT/s.
pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let coolers = coolers(machine);
    let functions = storage(machine);
    let linked = functions.iter().filter(|f| f.dir.read("current_link_speed").is_some());
    let controls = linked.map(|f| of_function(machine, f, &coolers)).collect();
    or_absent(controls, ID, "no storage controller on a PCI Express link here")
}

/// Cooling devices of ports, by the port's address.
fn coolers<'a>(machine: &Machine<'a>) -> BTreeMap<String, Dir<'a>> {
    let devices = machine.root.dir("/sys/class/thermal").map(|d| d.numbered("cooling_device")).unwrap_or_default();
    let of_port = |d: Dir<'a>| Some((d.read("type")?.strip_prefix("PCIe_Port_Link_Speed_")?.to_owned(), d));
    devices.into_iter().filter_map(of_port).collect()
}

fn of_function(machine: &Machine<'_>, f: &Function<'_>, coolers: &BTreeMap<String, Dir<'_>>) -> Control {
    let now = f.dir.read("current_link_speed").map(|text| rate(&text));
    let width = f.dir.read("current_link_width").map(|lanes| format!("x{lanes}"));
    let base = Control { risk: Some(RISK.into()), ..instance(ID, &f.address) };
    let shown = |reason: &str| Control {
        value: now.clone(),
        source: format!("{}/current_link_speed", f.dir.path()),
        ..base.clone().because(Some(reason))
    };
    let port = f.dir.ancestors().nth(1).and_then(|d| Name::new(d.name())).filter(|n| drive::is_pci_address(n));
    let Some(port) = port else { return shown("it is part of the chipset: there is no port above it") };
    let found = coolers.get(&*port).and_then(|d| Some((d.look("cur_state")?, d.parse::<usize>("max_state")?)));
    let Some((look, lowest)) = found else {
        return shown("the kernel cannot change the speed of this port (Linux 6.13 and later can, of most)");
    };
    let names: Vec<(String, String)> = (0..=lowest).rev().filter_map(|state| name(state, lowest)).collect();
    let files: [Seen; 1] = [(Site::LinkSpeed { port }, look)];
    let speed = base.uniform(machine.root, &files, &names, "");
    let speed = speed.saves(&[SPEEDS[0]]).performs(&["max"]);
    let link = [now.map(|n| format!("the link runs at {n}")), width].into_iter().flatten().collect::<Vec<_>>();
    speed.noting((!link.is_empty()).then(|| link.join(" "))).because(busy(machine, f))
}

/// The word for a state: the rate, `max` for the highest.
fn name(state: usize, lowest: usize) -> Option<(String, String)> {
    let word = if state == 0 { "max" } else { SPEEDS.get(lowest - state).copied()? };
    Some((word.to_owned(), state.to_string()))
}

/// `16.0 GT/s PCIe` as `16 GT/s`.
fn rate(text: &str) -> String {
    text.trim_end_matches(" PCIe").replace(".0 ", " ")
}

/// A drive behind the function that is in use, and by whom.
fn busy(machine: &Machine<'_>, f: &Function<'_>) -> Option<String> {
    let behind = |disk: &&Dir<'_>| drive::hardware(disk).ancestors().any(|d| d == f.dir);
    let used = machine.disks.iter().filter(behind).find_map(|disk| in_use::why(machine.root, disk))?;
    Some(format!("in use: {used}"))
}
