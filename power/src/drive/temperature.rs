//! Temperature, where a driver reports one (`nvme`, `drivetemp`).

use crate::root::Dir;

/// Degrees Celsius.
pub(super) fn of(hardware: &Dir<'_>) -> Option<f64> {
    chip(hardware)?.parse::<f64>("temp1_input").map(|milli| milli / 1000.0)
}

/// The sensor chip. Looks at the drive and its parents up to the controller, as NVMe reports at the controller and
/// drivetemp at the SCSI device; stops at the bus, whose sensors are other things'.
pub(super) fn chip<'a>(hardware: &Dir<'a>) -> Option<Dir<'a>> {
    let device = hardware.enter("device");
    let own = hardware.ancestors().take_while(|d| !matches!(d.name(), "block" | "nvme")).take(2);
    own.chain(device).find_map(|d| sensor(&d))
}

/// Older kernels have a folder `hwmon` in between.
fn sensor<'a>(dir: &Dir<'a>) -> Option<Dir<'a>> {
    let nested = dir.enter("hwmon").map(|h| h.numbered("hwmon")).unwrap_or_default();
    dir.numbered("hwmon").into_iter().chain(nested).find(|h| h.parse::<f64>("temp1_input").is_some())
}
