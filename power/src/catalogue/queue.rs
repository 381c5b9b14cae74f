//! The kernel's queue in front of a drive (Documentation/ABI/stable/sysfs-block).

use super::about::instance;
use super::build::{Seen, same, words};
use super::machine::Machine;
use super::pci::or_absent;
use super::spelling::{NOMERGES, RQ_AFFINITY};
use crate::control::Control;
use crate::name::Name;
use crate::root::Dir;
use crate::site::Site;

/// What makes a knob of a disk, if the kernel offers it there.
type Maker = fn(&Machine<'_>, &Dir<'_>, Name) -> Option<Control>;

const KNOBS: [(&str, Maker); 4] = [
    ("block.scheduler", scheduler),
    ("block.nomerges", nomerges),
    ("block.rq-affinity", rq_affinity),
    ("block.wbt", wbt),
];

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let of_disks = |(id, knob): (&str, Maker)| {
        let of = |disk: &Dir<'_>| knob(machine, disk, Name::new(disk.name())?);
        let reason = if machine.disks.is_empty() { "no drive here" } else { "this kernel does not offer it" };
        or_absent(machine.disks.iter().filter_map(of).collect(), id, reason)
    };
    KNOBS.into_iter().flat_map(of_disks).collect()
}

fn scheduler(machine: &Machine<'_>, disk: &Dir<'_>, name: Name) -> Option<Control> {
    let look = disk.look("queue/scheduler")?;
    let text = look.text().unwrap_or_default();
    let offered: Vec<&str> = text.split_whitespace().map(|w| w.trim_matches(['[', ']'])).collect();
    let knob = instance("block.scheduler", &name);
    let files: [Seen; 1] = [(Site::Scheduler { disk: name }, look)];
    Some(knob.uniform(machine.root, &files, &same(offered), "").performs(&["none", "noop"]))
}

fn nomerges(machine: &Machine<'_>, disk: &Dir<'_>, name: Name) -> Option<Control> {
    let look = disk.look("queue/nomerges")?;
    let knob = instance("block.nomerges", &name);
    let files: [Seen; 1] = [(Site::Nomerges { disk: name }, look)];
    let choices = words(&NOMERGES);
    Some(knob.uniform(machine.root, &files, &choices, "").performs(&["all"]))
}

/// Which CPU finishes a request: any, one that shares a cache with the one that asked, that one itself.
fn rq_affinity(machine: &Machine<'_>, disk: &Dir<'_>, name: Name) -> Option<Control> {
    let look = disk.look("queue/rq_affinity")?;
    let knob = instance("block.rq-affinity", &name);
    let files: [Seen; 1] = [(Site::RqAffinity { disk: name }, look)];
    let choices = words(&RQ_AFFINITY);
    Some(knob.uniform(machine.root, &files, &choices, "").performs(&["same"]))
}

/// Target in microseconds; the kernel's own is 2 ms for solid state and 75 ms for disks (block/blk-wbt.c).
fn wbt(machine: &Machine<'_>, disk: &Dir<'_>, name: Name) -> Option<Control> {
    let look = disk.look("queue/wbt_lat_usec")?;
    let usual = if disk.read("queue/rotational").as_deref() == Some("1") { "75000" } else { "2000" };
    let knob = instance("block.wbt", &name);
    let files: [Seen; 1] = [(Site::Wbt { disk: name }, look)];
    let mut wbt = knob.uniform(machine.root, &files, &words(&[("on", usual), ("off", "0")]), "");
    if let Some(us) = wbt.value.as_ref().and_then(|v| v.parse::<u64>().ok()) {
        wbt.value = Some(format!("{us} us"));
    }
    Some(wbt.performs(&["off"]))
}
