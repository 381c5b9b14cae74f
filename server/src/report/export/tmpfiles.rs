//! Lines of tmpfiles.d, which write to files at each start.

use super::choice::Choices;
use super::comment::{comment, head, setting, tail};
use power::recipe::Recipe;
use std::fmt::Write;

pub(super) fn write(choices: &Choices<'_>) -> String {
    let mut out = String::new();
    let how = [
        "Apply: save as /etc/tmpfiles.d/brakecheck.conf, then sudo systemd-tmpfiles --create brakecheck.conf; at each \
         start it is done early, before late drivers are loaded.",
        "Undo: remove the file and restart.",
    ];
    head(&mut out, choices, &how);
    for choice in &choices.settings {
        setting(&mut out, choice);
        let cannot = match &choice.recipe {
            Ok(Recipe::Write { path, value }) => {
                let _ = writeln!(out, "w {path} - - - - {value}");
                continue;
            }
            Ok(Recipe::Beside { .. }) => "the number differs from CPU to CPU",
            Ok(Recipe::IdleDepth { .. } | Recipe::C1e { .. }) => "idle states are found by name, not by path",
            Ok(Recipe::LatencyLimit { us: None }) => "no limit is what is so when no program asks for one",
            Ok(Recipe::LatencyLimit { .. }) => "it holds only while a program keeps a file open",
            Ok(Recipe::Profile { .. }) => "the profile daemon is asked by a program, not through a file",
            Ok(Recipe::PowerState { .. }) => "the drive is asked by a program, not through a file",
            Err(_) => continue,
        };
        comment(&mut out, &format!("Not with tmpfiles.d: {cannot}. The forms systemd and script can."));
    }
    tail(&mut out, choices);
    out
}
