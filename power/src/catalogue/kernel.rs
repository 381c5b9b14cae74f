//! Settings of the kernel itself.

use super::about::control;
use super::build::words;
use super::machine::Machine;
use super::spelling::SWITCH;
use crate::control::Control;
use crate::site::Site;

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let site = Site::NmiWatchdog;
    let file = site.path(machine.root).and_then(|path| machine.root.look(&path));
    let files: Vec<_> = file.map(|look| (site, look)).into_iter().collect();
    let watchdog = control("kernel.nmi-watchdog").uniform(
        machine.root,
        &files,
        &words(&SWITCH),
        "this kernel has no NMI watchdog",
    );
    vec![watchdog.performs(&["off"])]
}
