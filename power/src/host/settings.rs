//! Settings as found, stored with each result.

use crate::catalogue::{agreed, policies};
use crate::control::{Hints, controls};
use crate::root::Root;
use protocol::host::Setting;

/// Every knob that has a value here, by its id, in the order of the path from platform to queue; and who drives
/// frequency and idling.
pub(super) fn all(root: &Root) -> Vec<Setting> {
    let knobs = controls(root, &Hints::default()).into_iter().map(|c| (c.id, c.value));
    let driver = agreed(policies(root).iter().filter_map(|p| p.dir.read("scaling_driver")));
    let idle = |name: &str| root.read(&format!("/sys/devices/system/cpu/cpuidle/{name}"));
    let governor = idle("current_governor").or_else(|| idle("current_governor_ro"));
    let drivers = [("cpu.frequency-driver".to_owned(), driver), ("cpu.idle-governor".to_owned(), governor)];
    knobs.chain(drivers).filter_map(|(id, value)| Some(Setting { id, value: value? })).collect()
}
