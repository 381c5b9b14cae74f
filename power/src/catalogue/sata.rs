//! SATA: sleep of the link, and command queueing.

use super::about::instance;
use super::build::{Seen, same, words};
use super::machine::{Machine, number};
use super::pci::or_absent;
use super::spelling::SATA_POLICIES;
use crate::control::Control;
use crate::drive;
use crate::name::Name;
use crate::root::Dir;
use crate::site::Site;

/// Bits of an AHCI port's command register: hot-pluggable, external (AHCI 1.3.1, 3.3.7).
const HOT_PLUG: u32 = 1 << 18;
const EXTERNAL: u32 = 1 << 21;

/// `link_power_management_policy` (Documentation/ABI/testing/sysfs-class-scsi_host); only libata's hosts have it.
pub(super) fn link_power(machine: &Machine<'_>) -> Vec<Control> {
    let id = "sata.link-power";
    let hosts = machine.root.dir("/sys/class/scsi_host");
    let control = |name: &String, dir: &Dir<'_>| {
        let files = [(Site::SataPolicy { host: number(name, "host")? }, dir.look("link_power_management_policy")?)];
        let link = instance(id, name).uniform(machine.root, &files, &same(SATA_POLICIES), "");
        Some(link.saves(&["med_power_with_dipm", "medium_power"]).performs(&["max_performance"]).because(barred(dir)))
    };
    let names = hosts.as_ref().map(Dir::names).unwrap_or_default();
    let found = names.iter().filter_map(|name| control(name, &hosts.as_ref()?.enter(name)?)).collect();
    or_absent(found, id, "no SATA port here")
}

/// Why a port's policy must be left alone.
fn barred(host: &Dir<'_>) -> Option<&'static str> {
    let command = host.read("ahci_port_cmd").and_then(|text| u32::from_str_radix(&text, 16).ok()).unwrap_or_default();
    let device = host.enter("device");
    let empty = device.is_some_and(|d| !d.names().iter().any(|n| n.starts_with("target")));
    if host.read("link_power_management_supported").as_deref() == Some("0") {
        return Some("this port or its drive does not support it");
    }
    if command & (HOT_PLUG | EXTERNAL) != 0 {
        return Some("external or hot-plug port: it would no longer notice a drive");
    }
    empty.then_some("no drive at this port")
}

/// `queue_depth` of ATA disks; a depth of 1 turns NCQ off.
pub(super) fn ncq(machine: &Machine<'_>) -> Vec<Control> {
    let id = "sata.ncq";
    let control = |disk: &Dir<'_>| {
        let look = disk.look("device/queue_depth")?;
        let now = look.text().ok().and_then(|t| t.parse::<u32>().ok());
        let most = drive::command_queue(disk);
        // Any depth above 1 is on; the kernel refuses a write that would change nothing.
        let on = now.filter(|n| *n > 1).or(most).unwrap_or(32).to_string();
        let files: [Seen; 1] = [(Site::QueueDepth { disk: Name::new(disk.name())? }, look)];
        let choices = words(&[("on", &on), ("off", "1")]);
        let ncq = instance(id, disk.name()).uniform(machine.root, &files, &choices, "");
        let without = most.is_some_and(|n| n < 2).then_some("this drive has no NCQ");
        let depth = now.filter(|n| *n > 1).map(|n| format!("{n} commands at a time"));
        Some(ncq.performs(&["on"]).because(without).noting(depth))
    };
    let found = machine.disks.iter().filter(|d| drive::is_sata(d)).filter_map(control).collect();
    or_absent(found, id, "no SATA drive here")
}
