//! A unit of systemd that sets everything at start and puts back what it found when it is stopped.

use super::choice::Choices;
use super::comment::{comment, head, nothing, setting, tail};
use super::shell::{Undo, can, hold, statement, undo};
use power::recipe::Recipe;
use std::fmt::Write;

/// Where values are saved, in the unit's own directory, which systemd removes after the unit has stopped.
const SAVED: &str = "/run/brakecheck-settings/saved";
/// Of a choice in brackets the one that is chosen.
const SAVER: &str =
    "w() { [ -e \"$1\" ] || return 0; v=$(cat \"$1\"); v=${v#*[[]}; echo \"$1 ${v%%]*}\"; }; c() { :; }";
const WRITER: &str = "w() { [ ! -e \"$1\" ] || echo \"$2\" >\"$1\"; }; c() { \"$@\"; }";

pub(super) fn write(choices: &Choices<'_>) -> String {
    let limit = choices.settings.iter().any(|c| matches!(c.recipe, Ok(Recipe::LatencyLimit { us: Some(_) })));
    let statements = || choices.settings.iter().filter_map(|c| statement(c.recipe.as_ref().ok()?));
    if !limit && !choices.settings.iter().any(|c| c.recipe.as_ref().is_ok_and(can)) {
        return nothing(choices);
    }
    let mut out = String::new();
    let how = [
        "Apply: save as /etc/systemd/system/brakecheck-settings.service, then \
         sudo systemctl enable --now brakecheck-settings. Each file's value is saved first.",
        "Undo: sudo systemctl disable --now brakecheck-settings, which puts the saved values back.",
    ];
    head(&mut out, choices, &how);
    out.push_str("\n[Unit]\nDescription=Settings recommended by Brakecheck\nAfter=multi-user.target\n\n[Service]\n");
    // What must be held needs a process that lives.
    out.push_str(if limit { "Type=exec\n" } else { "Type=oneshot\nRemainAfterExit=yes\n" });
    out.push_str("RuntimeDirectory=brakecheck-settings\n\n");
    comment(&mut out, "Saves what each file holds, before the first is written.");
    for statement in statements() {
        line(&mut out, "ExecStartPre", &format!("{SAVER}; {{ {statement}; }} >>{SAVED}"));
    }
    for choice in &choices.settings {
        setting(&mut out, choice);
        let Ok(recipe) = &choice.recipe else { continue };
        match (statement(recipe), recipe) {
            (Some(statement), _) => {
                let key = if limit { "ExecStartPre" } else { "ExecStart" };
                line(&mut out, key, &format!("{WRITER}; {statement}"));
            }
            (None, Recipe::LatencyLimit { us: Some(us) }) => line(&mut out, "ExecStart", &hold(*us)),
            (None, _) => comment(&mut out, "No limit is what is so when no program asks for one: nothing to set."),
        }
    }
    out.push('\n');
    comment(&mut out, "Puts back what was saved; what was set by a command, as the experiment found it.");
    let key = if limit { "ExecStopPost" } else { "ExecStop" };
    if statements().next().is_some() {
        line(&mut out, key, &format!("while read -r f v; do echo \"$v\" >\"$f\"; done <{SAVED}"));
    }
    for choice in &choices.settings {
        match undo(choice) {
            Undo::Saved => {}
            Undo::Command(statement) => line(&mut out, key, &format!("{WRITER}; {statement}")),
            Undo::Unknown(why) => comment(&mut out, &format!("{}: {why}", choice.id)),
        }
    }
    out.push_str("\n[Install]\nWantedBy=multi-user.target\n");
    tail(&mut out, choices);
    out
}

/// A command in the quotes of systemd, which reads `$` and `%` itself unless they are doubled. One that fails does not
/// keep the others from being run.
fn line(out: &mut String, key: &str, command: &str) {
    let command = command.replace('%', "%%").replace('$', "$$");
    let _ = writeln!(out, "{key}=-/bin/sh -c '{command}'");
}
