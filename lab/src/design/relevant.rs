//! Which knobs can matter for a drive.

use super::factor::{harmless, kind};
use protocol::experiment::Design;
use protocol::knob::Knob;

/// Kinds that are left out where it is asked which setting costs what, unless named: taking CPUs away changes what a
/// machine is, and no program reads faster with another watchdog.
const LEFT_OUT: [&str; 3] = ["cpu.cores", "cpu.smt", "kernel.nmi-watchdog"];

/// The ids of the knobs that a design tries when none is named: those that can be set without risk and act on the whole
/// host or on one of these devices, the kernel's names of the drive, its controller and port, and every bridge above.
pub fn relevant(knobs: &[Knob], devices: &[&str], design: Design) -> Vec<String> {
    let asks_which = matches!(design, Design::Check | Design::OneAtATime);
    let acts_here = |id: &str| id.split_once('@').is_none_or(|(_, device)| devices.contains(&device));
    let wanted = |id: &str| acts_here(id) && !(asks_which && LEFT_OUT.contains(&kind(id)));
    harmless(knobs).map(|f| f.id).filter(|id| wanted(id)).collect()
}
