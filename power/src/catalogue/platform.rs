//! The platform's profile: firmware's own, or that of a daemon which keeps it.

use super::about::control;
use super::build::same;
use super::machine::Machine;
use crate::control::{Choice, Control, ProfileDaemon, Write};
use crate::site::Site;

/// Names of profiles from the one that saves most; makers choose among them.
const SAVING: [&str; 4] = ["low-power", "power-saver", "quiet", "cool"];
const PERFORMANCE: [&str; 2] = ["performance", "balanced-performance"];

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let profile = match &machine.hints.profile_daemon {
        Some(daemon) => held(machine, daemon),
        None => written(machine),
    };
    vec![profile.saves(&SAVING).performs(&PERFORMANCE)]
}

/// Written to the kernel's file (Documentation/ABI/testing/sysfs-platform_profile).
fn written(machine: &Machine<'_>) -> Control {
    let site = Site::PlatformProfile;
    let file = site.path(machine.root).and_then(|path| machine.root.look(&path));
    let offered = machine.root.read("/sys/firmware/acpi/platform_profile_choices").unwrap_or_default();
    // `custom` says that a driver's own settings are in force; the kernel refuses it when written.
    let choices = same(offered.split_whitespace().filter(|c| *c != "custom"));
    let files: Vec<_> = file.map(|look| (site, look)).into_iter().collect();
    control("platform.profile").uniform(
        machine.root,
        &files,
        &choices,
        &machine.lacking("no platform profile", "this firmware offers none"),
    )
}

/// Held at a daemon, which puts back its own when the holder goes.
fn held(machine: &Machine<'_>, daemon: &ProfileDaemon) -> Control {
    let choice = |profile: &String| Choice {
        value: profile.clone(),
        writes: vec![Write { site: Site::ProfileHold, value: profile.clone() }],
        disturbs: Vec::new(),
    };
    Control {
        value: Some(daemon.active.clone()).filter(|v| !v.is_empty()),
        choices: daemon.profiles.iter().map(choice).collect(),
        detail: Some("held at the profile daemon, which keeps it".into()),
        source: Site::ProfileHold.source(machine.root),
        ..control("platform.profile")
    }
}
