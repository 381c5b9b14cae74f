//! The knobs: which there are on this host, their values, and what is written for each.
//!
//! | module | knobs |
//! |---|---|
//! | [`platform`], [`kernel`] | profile of the firmware, watchdog |
//! | [`idle`], [`latency`] | idle states and the limit on waking from them |
//! | [`turbo`], [`frequency`], [`floor`] | how fast the CPU runs |
//! | [`cores`] | threads and CPUs |
//! | [`aspm`], [`link_speed`], [`pci`] | PCI Express |
//! | [`sata`], [`nvme`] | the drive and its link |
//! | [`queue`] | the kernel's block queue |
//! | [`readonly`] | what is only shown |
//!
//! [`about`] has the names of all of them, [`spelling`] the words for their values, [`machine`] what several need to know, [`build`] how a control comes from
//! files.

mod about;
mod aspm;
mod build;
mod cores;
mod floor;
mod frequency;
mod idle;
mod kernel;
mod latency;
mod link_speed;
mod machine;
mod nvme;
mod pci;
mod platform;
mod queue;
mod readonly;
mod sata;
pub(crate) mod spelling;
mod turbo;

pub(crate) use build::agreed;
pub(crate) use machine::policies;

use crate::control::{Control, Hints};
use crate::mounts;
use crate::root::Root;
use machine::Machine;

/// Every control, in the order of the path from platform to queue. Each id of the contract is there on every host; what
/// a host lacks says so.
pub(crate) fn all(root: &Root, hints: &Hints) -> Vec<Control> {
    let machine = Machine::of(root, hints);
    let families: [fn(&Machine<'_>) -> Vec<Control>; 15] = [
        platform::all,
        kernel::all,
        turbo::all,
        frequency::all,
        floor::all,
        idle::all,
        cores::all,
        aspm::all,
        link_speed::all,
        pci::runtime_pm,
        sata::link_power,
        sata::ncq,
        nvme::all,
        queue::all,
        readonly::all,
    ];
    let mut controls: Vec<Control> = families.iter().flat_map(|family| family(&machine)).collect();
    controls.sort_by_key(|c| (c.group, about::position(&c.id)));
    let sealed: Vec<&str> = ["/sys", "/proc/sys"].into_iter().filter(|p| mounts::is_read_only(root, p)).collect();
    for control in &mut controls {
        let mount = sealed.iter().find(|p| control.source.starts_with(**p));
        if let (None, Some(mount)) = (&control.reason, mount) {
            control.reason = Some(format!("this container mounts {mount} read-only"));
        }
    }
    controls
}
