//! Kernel parameters, for the settings that have one (admin-guide/kernel-parameters.rst).

use super::choice::{Choice, Choices};
use super::comment::{comment, head, setting, tail};
use power::recipe::Recipe;
use std::fmt::Write;

pub(super) fn write(choices: &Choices<'_>) -> String {
    let mut out = String::new();
    let how = [
        "Apply: add the last line to the kernel command line (GRUB_CMDLINE_LINUX in /etc/default/grub and update-grub, \
         or grubby --update-kernel=ALL --args=...), then restart.",
        "Undo: take it out again and restart.",
    ];
    head(&mut out, choices, &how);
    let mut all = Vec::new();
    for choice in &choices.settings {
        setting(&mut out, choice);
        let Ok(recipe) = &choice.recipe else { continue };
        match parameter(choice, recipe) {
            Ok((parameter, note)) => {
                comment(&mut out, &format!("{parameter}{note}"));
                all.push(parameter);
            }
            Err(reason) => comment(&mut out, &format!("No kernel parameter: {reason}.")),
        }
    }
    tail(&mut out, choices);
    out.push('\n');
    if all.is_empty() {
        comment(&mut out, "No setting here has a kernel parameter.");
    } else {
        let _ = writeln!(out, "{}", all.join(" "));
    }
    out
}

/// The parameter and what is to be known of it, or why there is none.
fn parameter(choice: &Choice<'_>, recipe: &Recipe) -> Result<(String, &'static str), &'static str> {
    let kind = choice.id.split('@').next().unwrap_or_default();
    match (kind, recipe) {
        ("nvme.apst", Recipe::Write { value, .. }) if value != "auto" => {
            Ok((format!("nvme_core.default_ps_max_latency_us={value}"), ", for every NVMe drive"))
        }
        ("nvme.apst", _) => Err("auto is set for a single drive only; without a parameter the kernel allows 100 ms"),
        ("pcie.aspm", Recipe::Write { value, .. }) => Ok((format!("pcie_aspm.policy={value}"), "")),
        ("cpu.governor", Recipe::Write { value, .. }) => {
            Ok((format!("cpufreq.default_governor={value}"), ", Linux 5.9 and later"))
        }
        ("cpu.smt", Recipe::Write { value, .. }) if value == "off" => Ok(("nosmt".into(), "")),
        ("cpu.smt", _) => Err("threads are on unless the command line says nosmt"),
        ("kernel.nmi-watchdog", Recipe::Write { value, .. }) => Ok((format!("nmi_watchdog={value}"), "")),
        // Numbers of enum ata_lpm_policy in include/linux/libata.h.
        ("sata.link-power", Recipe::Write { value, .. }) => {
            let number = match value.as_str() {
                "max_performance" => 1,
                "medium_power" => 2,
                "med_power_with_dipm" => 3,
                _ => return Err("it has no number there"),
            };
            Ok((format!("ahci.mobile_lpm_policy={number}"), ", for every port of an AHCI controller that heeds it"))
        }
        ("sata.ncq", Recipe::Write { value, .. }) if value == "1" => {
            Ok(("libata.force=noncq".into(), ", for every SATA drive"))
        }
        ("sata.ncq", _) => Err("NCQ is on unless the command line says libata.force=noncq"),
        ("cpu.deep-idle", Recipe::IdleDepth { deepest }) if deepest == "POLL" => {
            Ok(("idle=poll".into(), ": the CPU never sleeps and runs hot"))
        }
        ("cpu.deep-idle", Recipe::IdleDepth { deepest }) => {
            let sleeping = || choice.values.iter().filter(|v| *v != "POLL");
            let place = sleeping().position(|v| v == deepest).ok_or("the host has no idle state of this name")?;
            if place + 1 == sleeping().count() {
                return Err("the deepest state is allowed unless the command line says otherwise");
            }
            let number = place + 1;
            let note =
                ", the first for Intel's own driver, the second for ACPI's; states are counted as the driver has them";
            Ok((format!("intel_idle.max_cstate={number} processor.max_cstate={number}"), note))
        }
        ("block.scheduler", _) => Err("elevator= was removed in Linux 5.0; a udev rule or tuned can"),
        _ => Err("this is set while the system runs; the forms systemd and script can"),
    }
}
