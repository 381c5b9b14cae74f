//! Temperatures, from `/sys/class/hwmon` (hwmon/sysfs-interface.rst).

use crate::root::{Dir, Root};
use protocol::telemetry::TemperatureSample;

/// Sensors of the processor and the machine.
const HOST: [&str; 5] = ["coretemp", "k10temp", "zenpower", "cpu_thermal", "acpitz"];
/// Sensors that are asked for by a command to the drive.
const DRIVES: [&str; 2] = ["nvme", "drivetemp"];

/// What a computer that still runs can have; other values are a sensor's way of saying that it does not know.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = -40.0..=150.0;

/// Whose sensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Processor and machine.
    Host,
    /// Drives. Reading sends each a command.
    Drives,
}

/// The temperatures now.
pub(super) fn sample(root: &Root, of: Of) -> Vec<TemperatureSample> {
    let chips = root.dir("/sys/class/hwmon").map(|d| d.numbered("hwmon")).unwrap_or_default();
    let mut samples: Vec<TemperatureSample> = Vec::new();
    for chip in &chips {
        let Some(name) = chip.read("name") else { continue };
        let found = match of {
            Of::Host if HOST.contains(&name.as_str()) => host(chip, &name),
            Of::Drives if DRIVES.contains(&name.as_str()) => drive(chip, &name).into_iter().collect(),
            _ => continue,
        };
        for mut sample in found {
            // Two processors have two chips of one name.
            let same = samples.iter().filter(|s| is_numbered(&s.name, &sample.name)).count();
            if same > 0 {
                sample.name = format!("{} ({})", sample.name, same + 1);
            }
            samples.push(sample);
        }
    }
    samples
}

fn is_numbered(name: &str, base: &str) -> bool {
    name.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
}

fn host(chip: &Dir<'_>, name: &str) -> Vec<TemperatureSample> {
    let files = chip.names();
    let sensors = files.iter().filter_map(|f| f.strip_suffix("_input").filter(|s| s.starts_with("temp")));
    let labelled = sensors.map(|s| (s, chip.read(&format!("{s}_label"))));
    // Those of single cores are on the core itself, which must wake to be asked.
    let whole = |label: &String| !label.starts_with("Core ") && !label.starts_with("Tccd");
    labelled
        .filter(|(_, label)| label.as_ref().is_none_or(whole))
        .filter_map(|(s, label)| celsius(chip, s, label.map_or_else(|| name.to_owned(), |l| format!("{name} {l}"))))
        .collect()
}

/// Only the first sensor, by which makers mean the drive as a whole; each further one is a further command.
fn drive(chip: &Dir<'_>, name: &str) -> Option<TemperatureSample> {
    let device = chip.enter("device");
    let owner = device.as_ref().and_then(|d| match name {
        "nvme" => Some(d.name().to_owned()),
        _ => d.enter("block")?.names().into_iter().next(),
    });
    let owner = owner.unwrap_or_else(|| name.to_owned());
    let label = chip.read("temp1_label").map(|l| format!(" {l}")).unwrap_or_default();
    celsius(chip, "temp1", owner + &label)
}

fn celsius(chip: &Dir<'_>, sensor: &str, name: String) -> Option<TemperatureSample> {
    let celsius = chip.parse::<f64>(&format!("{sensor}_input"))? / 1e3;
    PLAUSIBLE.contains(&celsius).then_some(TemperatureSample { name, celsius })
}
