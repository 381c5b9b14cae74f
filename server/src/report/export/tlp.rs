//! A drop-in of TLP, with its own variables (tlp.conf, <https://linrunner.de/tlp/settings>).

use super::choice::{Choice, Choices};
use super::comment::{comment, head, setting, tail};
use power::recipe::Recipe;
use std::fmt::Write;

pub(super) fn write(choices: &Choices<'_>) -> String {
    let mut out = String::new();
    let how = [
        "Apply: save as /etc/tlp.d/90-brakecheck.conf, then sudo tlp start. What /etc/tlp.conf itself sets wins.",
        "Undo: remove the file, then sudo tlp start, or restart where TLP has no default.",
        "_ON_AC is what is recommended for this use, _ON_BAT what is recommended for battery, or else what was found.",
    ];
    head(&mut out, choices, &how);
    let mut disks: Vec<(&str, &str)> = Vec::new();
    for choice in &choices.settings {
        setting(&mut out, choice);
        let Ok(recipe) = &choice.recipe else { continue };
        let instance = choice.id.split_once('@').map(|(_, of)| of);
        match (variable(choice), recipe, instance) {
            (Ok(Variable::Split(name, note)), ..) => {
                if !note.is_empty() {
                    comment(&mut out, note);
                }
                let battery = choice.on_battery.or(choice.found);
                for (suffix, value) in [("AC", Some(choice.value)), ("BAT", battery)] {
                    let Some(value) = value else { continue };
                    match spelt(choice.id, value, recipe) {
                        Some(value) => {
                            let _ = writeln!(out, "{name}_ON_{suffix}={value}");
                        }
                        None => comment(&mut out, &format!("{name}_ON_{suffix}: TLP has no word for {value}.")),
                    }
                }
            }
            (Ok(Variable::Same(name)), Recipe::Write { value, .. }, _) => {
                let _ = writeln!(out, "{name}={value}");
            }
            // As lspci writes addresses of the first domain.
            (Ok(Variable::Device), Recipe::Write { path, value }, _) => {
                let device = path.split('/').nth(5).unwrap_or_default().trim_start_matches("0000:");
                let list = if value == "auto" { "RUNTIME_PM_ENABLE" } else { "RUNTIME_PM_DISABLE" };
                let _ = writeln!(out, "{list}+=\" {device}\"");
            }
            (Ok(Variable::Disk), Recipe::Write { path, value }, _) => {
                disks.push((path.split('/').nth(3).unwrap_or_default(), value));
            }
            (Ok(_), ..) => comment(&mut out, "Not with TLP; the forms systemd and script can."),
            (Err(reason), ..) => comment(&mut out, &format!("Not with TLP: {reason}.")),
        }
    }
    if !disks.is_empty() {
        out.push('\n');
        comment(&mut out, "These lists belong together; other DISK_ variables go by the same disks.");
        let (names, schedulers): (Vec<&str>, Vec<&str>) = disks.into_iter().unzip();
        let _ = writeln!(out, "DISK_DEVICES=\"{}\"\nDISK_IOSCHED=\"{}\"", names.join(" "), schedulers.join(" "));
    }
    tail(&mut out, choices);
    out
}

/// Where TLP keeps a setting.
enum Variable {
    /// A value for mains and one for battery; what to know of it.
    Split(&'static str, &'static str),
    /// One value.
    Same(&'static str),
    /// Lists of PCI devices.
    Device,
    /// The list of disks.
    Disk,
}

fn variable(choice: &Choice<'_>) -> Result<Variable, &'static str> {
    Ok(match choice.id.split('@').next().unwrap_or_default() {
        "platform.profile" => Variable::Split("PLATFORM_PROFILE", ""),
        "cpu.governor" => Variable::Split("CPU_SCALING_GOVERNOR", ""),
        "cpu.epp" => Variable::Split("CPU_ENERGY_PERF_POLICY", ""),
        "cpu.epb" => return Err("its variable sets another setting, EPP, where the CPU has that"),
        "cpu.turbo" => Variable::Split("CPU_BOOST", ""),
        "cpu.frequency-floor" => Variable::Split("CPU_MIN_PERF", "In percent; with the driver intel_pstate only."),
        "pcie.aspm" => Variable::Split("PCIE_ASPM", ""),
        "sata.link-power" => {
            Variable::Split("SATA_LINKPWR", "For every SATA port; SATA_LINKPWR_DENYLIST leaves some out.")
        }
        "kernel.nmi-watchdog" => Variable::Same("NMI_WATCHDOG"),
        "pci.runtime-pm" => Variable::Device,
        "block.scheduler" => Variable::Disk,
        "cpu.deep-idle" | "cpu.c1e" | "cpu.latency-limit" => return Err("it leaves idle states alone"),
        "nvme.apst" | "nvme.power-state" => return Err("it leaves NVMe power states alone"),
        _ => return Err("it has no variable for this; the forms systemd and script can"),
    })
}

/// TLP's word for a value.
fn spelt(id: &str, value: &str, recipe: &Recipe) -> Option<String> {
    let kind = id.split('@').next().unwrap_or_default();
    let word = match (kind, value) {
        ("cpu.turbo", "on") => "1",
        ("cpu.turbo", "off") | ("cpu.frequency-floor", "lowest") => "0",
        ("cpu.frequency-floor", "highest") => "100",
        ("cpu.turbo" | "cpu.frequency-floor", _) => return None,
        // What the recipe takes is safe; a value for battery passes through one of its own.
        _ => match Recipe::of(id, value, source(recipe)).ok()? {
            Recipe::Write { .. } | Recipe::Profile { .. } => value,
            _ => return None,
        },
    };
    Some(word.to_owned())
}

/// What tells files apart, of the recipe that is known to be right.
fn source(recipe: &Recipe) -> &str {
    match recipe {
        Recipe::Write { path, .. } => path,
        _ => "HoldProfile",
    }
}
