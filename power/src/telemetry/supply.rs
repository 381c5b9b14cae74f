//! Mains and batteries, from `/sys/class/power_supply` (ABI/testing/sysfs-class-power).

use crate::host;
use crate::root::{Dir, Root};
use protocol::telemetry::SupplySample;

/// No battery gives this much; some firmware says so.
const MOST_WATTS: f64 = 1000.0;

/// What is drawn from where, now.
pub(super) fn sample(root: &Root) -> SupplySample {
    SupplySample { on_ac: host::on_ac(root), battery_watts: battery_watts(root) }
}

/// From all batteries that are discharging; `None` if none is, or if one does not say how much.
fn battery_watts(root: &Root) -> Option<f64> {
    let dir = root.dir("/sys/class/power_supply")?;
    let discharging = |s: &Dir<'_>| {
        let is = |name: &str, value: &str| s.read(name).as_deref() == Some(value);
        // A mouse has a battery too; its scope says so.
        is("type", "Battery") && is("status", "Discharging") && !is("scope", "Device")
    };
    let batteries: Vec<_> = dir.names().iter().filter_map(|n| dir.enter(n)).filter(discharging).collect();
    let watts: Option<Vec<f64>> = batteries.iter().map(watts).collect();
    watts.filter(|w| !w.is_empty()).map(|w| w.iter().sum())
}

/// Some drivers give the discharging current a sign.
fn watts(battery: &Dir<'_>) -> Option<f64> {
    let value = |name: &str| battery.parse::<i64>(name).map(|v| v.unsigned_abs() as f64 / 1e6);
    let watts = value("power_now").or_else(|| Some(value("current_now")? * value("voltage_now")?))?;
    (watts < MOST_WATTS).then_some(watts)
}
