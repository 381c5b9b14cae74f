//! Temperature, where a driver reports one (`nvme`, `drivetemp`).

use crate::root::Dir;

/// Degrees Celsius. Looks at the drive and its parents up to the controller, as NVMe reports at the controller and
/// drivetemp at the SCSI device; stops at the bus, whose sensors are other things'.
pub(super) fn of(hardware: &Dir<'_>) -> Option<f64> {
    let device = hardware.enter("device");
    let own = hardware.ancestors().take_while(|d| !matches!(d.name(), "block" | "nvme")).take(2);
    own.chain(device).find_map(|d| sensor(&d)).map(|milli| milli / 1000.0)
}

/// Older kernels have a folder `hwmon` in between.
fn sensor(dir: &Dir<'_>) -> Option<f64> {
    let nested = dir.enter("hwmon").map(|h| h.numbered("hwmon")).unwrap_or_default();
    dir.numbered("hwmon").iter().chain(&nested).find_map(|h| h.parse("temp1_input"))
}
