//! Which knobs can matter for a drive.

use super::factor::{harmless, kind};
use protocol::knob::Knob;

/// Kinds that are left out unless named: taking CPUs away changes what a machine is, and no program reads faster with
/// another watchdog.
const LEFT_OUT: [&str; 3] = ["cpu.cores", "cpu.smt", "kernel.nmi-watchdog"];

/// The ids of the knobs that can be set without risk and act on the whole host or on one of these devices: the kernel's
/// names of the drive, its controller and port, and every bridge above.
pub fn relevant(knobs: &[Knob], devices: &[&str]) -> Vec<String> {
    let acts_here = |id: &str| id.split_once('@').is_none_or(|(_, device)| devices.contains(&device));
    harmless(knobs).filter(|f| acts_here(&f.id) && !LEFT_OUT.contains(&kind(&f.id))).map(|f| f.id).collect()
}
