//! A profile of tuned. Sections and options are those of its plug-ins (tuned/plugins/plugin_*.py).

use super::choice::{Choice, Choices};
use super::comment::{comment, head, nothing, purpose, setting, tail};
use power::recipe::Recipe;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines of a section, comments among them.
type Sections = BTreeMap<String, String>;

pub(super) fn write(choices: &Choices<'_>) -> String {
    let mut out = String::new();
    let how = [
        "Apply: save as /etc/tuned/brakecheck/tuned.conf (newer versions: /etc/tuned/profiles/brakecheck/tuned.conf), then \
         sudo tuned-adm profile brakecheck. To add it to a profile, name both: tuned-adm profile balanced brakecheck.",
        "Undo: choose the profile before; tuned puts back what it changed.",
    ];
    head(&mut out, choices, &how);
    let can = |c: &Choice<'_>| c.recipe.as_ref().is_ok_and(|r| option(c, r).is_ok());
    if !choices.settings.iter().any(can) {
        return nothing(choices);
    }
    let _ = writeln!(out, "\n[main]\nsummary=Settings recommended by Brakecheck for {}", short(choices));
    let (mut sections, mut not) = (Sections::new(), String::new());
    for choice in &choices.settings {
        let Ok(recipe) = &choice.recipe else {
            setting(&mut not, choice);
            continue;
        };
        match option(choice, recipe) {
            Ok((section, line)) => {
                let lines = sections.entry(section).or_default();
                setting(lines, choice);
                // The first of two options of one name wins.
                let key = line.split('=').next().unwrap_or_default();
                if lines.lines().any(|l| l.split('=').next() == Some(key)) {
                    comment(lines, &format!("Not set a second time: {line}"));
                } else {
                    let _ = writeln!(lines, "{line}");
                }
            }
            Err(reason) => {
                setting(&mut not, choice);
                comment(&mut not, &format!("Not with tuned: {reason}."));
            }
        }
    }
    for (section, lines) in sections {
        let _ = write!(out, "\n[{section}]{}", if lines.starts_with('\n') { "" } else { "\n" });
        out.push_str(&lines);
    }
    out.push_str(&not);
    tail(&mut out, choices);
    out
}

fn short(choices: &Choices<'_>) -> &'static str {
    purpose(choices.purpose).split(':').next().unwrap_or_default()
}

/// The section, and the line in it.
fn option(choice: &Choice<'_>, recipe: &Recipe) -> Result<(String, String), &'static str> {
    let (kind, instance) = choice.id.split_once('@').unwrap_or((choice.id, ""));
    let named = |plugin: &str| format!("{plugin}_{instance}");
    let of_device =
        |plugin: &str, line: String| Ok((named(plugin), format!("type={plugin}\ndevices={instance}\n{line}")));
    let cpu = |line: String| Ok(("cpu".to_owned(), line));
    match (kind, recipe) {
        ("cpu.governor", Recipe::Write { value, .. }) => cpu(format!("governor={value}")),
        ("cpu.epp", Recipe::Write { value, .. }) => cpu(format!("energy_performance_preference={value}")),
        // The plug-in takes names.
        ("cpu.epb", Recipe::Write { .. }) => cpu(format!("energy_perf_bias={}", choice.value)),
        ("cpu.turbo", Recipe::Write { path, value }) if path.ends_with("/no_turbo") => cpu(format!("no_turbo={value}")),
        ("cpu.deep-idle", Recipe::IdleDepth { deepest }) => cpu(format!("force_latency=cstate.name:{deepest}|None")),
        ("cpu.latency-limit", Recipe::LatencyLimit { us: Some(us) }) => cpu(format!("force_latency={us}")),
        ("cpu.latency-limit", _) => Err("no limit is what is so when no program asks for one"),
        ("platform.profile", Recipe::Write { value, .. }) => Ok(("acpi".into(), format!("platform_profile={value}"))),
        ("platform.profile", _) => Err("the profile daemon owns it; use powerprofilesctl set"),
        ("kernel.nmi-watchdog", Recipe::Write { value, .. }) => {
            Ok(("sysctl".into(), format!("kernel.nmi_watchdog={value}")))
        }
        // Instances have passed through the recipe, so they are names of devices.
        ("sata.link-power", Recipe::Write { value, .. }) => of_device("scsi_host", format!("alpm={value}")),
        ("block.scheduler", Recipe::Write { value, .. }) => of_device("disk", format!("elevator={value}")),
        (_, Recipe::Write { path, value }) if path.starts_with("/sys/") => {
            Ok(("sysfs".into(), format!("{path}={value}")))
        }
        (_, Recipe::Beside { .. }) => Err("the number differs from CPU to CPU"),
        (_, Recipe::C1e { .. }) => Err("it finds idle states by their place only, which differs from host to host"),
        _ => Err("it has no option for this; the forms systemd and script can"),
    }
}
