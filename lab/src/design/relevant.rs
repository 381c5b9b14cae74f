//! Which knobs can matter for a drive.

use super::factor::{harmless, kind};
use protocol::knob::Knob;

/// Kinds that are left out unless named: taking CPUs away changes what a machine is, and no program reads faster with
/// another watchdog.
const LEFT_OUT: [&str; 3] = ["cpu.cores", "cpu.smt", "kernel.nmi-watchdog"];

/// Idle states no deeper than C1 leave C1E out, and all of them need it: of the two one is tried.
const C1E: &str = "cpu.c1e";
/// That which is tried.
const DEEP_IDLE: &str = "cpu.deep-idle";

/// The ids of the knobs that can be set without risk and act on the whole host or on one of these devices: the kernel's
/// names of the drive, its controller and port, and every bridge above.
pub fn relevant(knobs: &[Knob], devices: &[&str]) -> Vec<String> {
    let acts_here = |id: &str| id.split_once('@').is_none_or(|(_, device)| devices.contains(&device));
    let mut ids: Vec<_> =
        harmless(knobs).map(|f| f.id).filter(|id| acts_here(id) && !LEFT_OUT.contains(&kind(id))).collect();
    if ids.iter().any(|id| id == DEEP_IDLE) {
        ids.retain(|id| id != C1E);
    }
    ids
}
