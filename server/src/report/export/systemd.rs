//! A unit of systemd that sets everything at start and puts it back when stopped.

use super::choice::Choices;
use super::comment::{comment, head, setting, tail};
use super::script::no_undo;
use super::shell::{hold, statement};
use power::recipe::Recipe;
use std::fmt::Write;

const WRITER: &str = "w() { [ ! -e \"$1\" ] || echo \"$2\" >\"$1\"; }";

pub(super) fn write(choices: &Choices<'_>) -> String {
    let limit = choices.settings.iter().find_map(|c| match c.recipe {
        Ok(Recipe::LatencyLimit { us: Some(us) }) => Some(us),
        _ => None,
    });
    let mut out = String::new();
    let how = [
        "Apply: save as /etc/systemd/system/brakecheck-settings.service, then \
         sudo systemctl enable --now brakecheck-settings.",
        "Undo: sudo systemctl disable --now brakecheck-settings.",
    ];
    head(&mut out, choices, &how);
    out.push_str("\n[Unit]\nDescription=Settings recommended by Brakecheck\nAfter=multi-user.target\n\n[Service]\n");
    // What must be held needs a process that lives.
    out.push_str(if limit.is_some() { "Type=exec\n" } else { "Type=oneshot\nRemainAfterExit=yes\n" });
    for choice in &choices.settings {
        setting(&mut out, choice);
        let Ok(recipe) = &choice.recipe else { continue };
        match (statement(recipe), recipe) {
            (Some(statement), _) => {
                let key = if limit.is_some() { "ExecStartPre" } else { "ExecStart" };
                line(&mut out, key, &format!("{WRITER}; {statement}"));
            }
            (None, Recipe::LatencyLimit { us: Some(us) }) => line(&mut out, "ExecStart", &hold(*us)),
            (None, _) => comment(&mut out, "No limit is what is so when no program asks for one: nothing to set."),
        }
    }
    if limit.is_none() && !choices.settings.iter().any(|c| c.recipe.as_ref().is_ok_and(|r| statement(r).is_some())) {
        // A unit that does nothing is no unit.
        out.push_str("ExecStart=/bin/true\n");
    }
    out.push('\n');
    comment(&mut out, "The values before the experiment.");
    let key = if limit.is_some() { "ExecStopPost" } else { "ExecStop" };
    for choice in choices.settings.iter().rev().filter(|c| c.recipe.as_ref().is_ok_and(|r| statement(r).is_some())) {
        match choice.undo.as_ref().and_then(statement) {
            Some(statement) => line(&mut out, key, &format!("{WRITER}; {statement}")),
            None => comment(&mut out, &format!("{}: {}", choice.id, no_undo(choice.found))),
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
