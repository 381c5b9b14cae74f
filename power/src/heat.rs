//! How warm processor and drive are, against what they bear (hwmon/sysfs-interface.rst).

use crate::drive::temperature_of;
use crate::root::{Dir, Root};

/// A temperature and its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// What is as warm: `nvme0n1`, `the processor`.
    pub what: String,
    /// Degrees Celsius.
    pub celsius: f64,
    /// From here on it counts as hot.
    pub limit: f64,
    /// Whether the device itself says that it is too hot.
    pub alarm: bool,
}

impl Heat {
    /// Whether it is as hot that it may have been slowed down.
    pub fn is_hot(&self) -> bool {
        self.alarm || self.celsius >= self.limit
    }

    /// Whether it is so far below its limit that it will not be there at once again.
    pub fn is_cool(&self) -> bool {
        !self.alarm && self.celsius < self.limit - HYSTERESIS
    }
}

/// How far below its limit something counts as cool again.
const HYSTERESIS: f64 = 5.0;
/// A processor slows down at its critical temperature; this close to it, it may have.
const NEAR_CRITICAL: f64 = 3.0;
/// Limit of a drive that names none: makers' warnings begin at about 70.
const USUAL_DRIVE: f64 = 70.0;
/// What a sensor that knows no limit gives instead of one lies outside.
const PLAUSIBLE: std::ops::Range<f64> = 30.0..150.0;
/// Drivers of processors' sensors.
const PROCESSORS: [&str; 4] = ["coretemp", "k10temp", "zenpower", "cpu_thermal"];

/// The drive of this kernel name, where a driver tells (`nvme`: the limit is the drive's own warning temperature;
/// `drivetemp`). Asks the drive, which wakes it.
pub fn drive(root: &Root, name: &str) -> Option<Heat> {
    let chip = temperature_of(root, name)?;
    let limit = plausible(&chip, "temp1_max").or_else(|| plausible(&chip, "temp1_crit"));
    let alarm = ["temp1_alarm", "temp1_crit_alarm"].iter().any(|file| chip.read(file).as_deref() == Some("1"));
    let celsius = celsius(&chip, "temp1_input")?;
    Some(Heat { what: name.to_owned(), celsius, limit: limit.unwrap_or(USUAL_DRIVE), alarm })
}

/// The processor: the sensor nearest to its critical temperature, of those that have one. Sensors of single cores are
/// left alone, since asking wakes the core.
pub fn processor(root: &Root) -> Option<Heat> {
    let chips = root.dir("/sys/class/hwmon").map(|d| d.numbered("hwmon")).unwrap_or_default();
    let ours = chips.iter().filter(|c| c.read("name").is_some_and(|name| PROCESSORS.contains(&name.as_str())));
    let heats = ours.flat_map(|chip| {
        let names = chip.names();
        let sensors = names.iter().filter_map(|n| n.strip_suffix("_input").filter(|s| s.starts_with("temp")));
        sensors.filter_map(|s| sensor(chip, s)).collect::<Vec<_>>()
    });
    heats.min_by(|a, b| (a.limit - a.celsius).total_cmp(&(b.limit - b.celsius)))
}

fn sensor(chip: &Dir<'_>, name: &str) -> Option<Heat> {
    if chip.read(&format!("{name}_label")).is_some_and(|label| label.starts_with("Core ")) {
        return None;
    }
    let limit = plausible(chip, &format!("{name}_crit"))? - NEAR_CRITICAL;
    let celsius = celsius(chip, &format!("{name}_input"))?;
    Some(Heat { what: "the processor".into(), celsius, limit, alarm: false })
}

fn celsius(chip: &Dir<'_>, file: &str) -> Option<f64> {
    chip.parse::<f64>(file).map(|milli| milli / 1e3)
}

fn plausible(chip: &Dir<'_>, file: &str) -> Option<f64> {
    celsius(chip, file).filter(|c| PLAUSIBLE.contains(c))
}
