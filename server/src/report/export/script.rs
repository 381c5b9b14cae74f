//! A shell script that says what it does, and undoes it when asked to.
//!
//! What a file held is known when the script is run, not from the experiment: files of one setting may differ from CPU to
//! CPU, and may have been changed since. So each is saved before the first is written, and `--undo` writes what was saved.

use super::choice::Choices;
use super::comment::{comment, head, nothing, setting, tail};
use super::shell::{Undo, can, hold, statement, undo};
use power::recipe::Recipe;
use std::fmt::Write;

const HEAD: &str = r#"
set -u
saved=/run/brakecheck-settings.undo
failed=0

# Saves what a file of the kernel holds, unless that was done before; of a choice in brackets the one that is chosen.
save() {
    [ -e "$1" ] || return 0
    ! grep -qsF -- "$1 " "$saved" || return 0
    old=$(cat "$1" 2>/dev/null)
    old=${old#*[[]}
    echo "$1 ${old%%]*}" >>"$saved" || exit 1
}

# Writes a value to a file of the kernel, and says what it was before and is now.
set_to() {
    if [ ! -e "$1" ]; then
        echo "skipped: $1 does not exist"
        return
    fi
    old=$(cat "$1" 2>/dev/null)
    if ! { printf '%s\n' "$2" >"$1"; } 2>/dev/null; then
        echo "failed: $1 does not take $2" >&2
        failed=1
        return
    fi
    echo "$1: $old -> $(cat "$1" 2>/dev/null)"
}

# Each setting: `w FILE VALUE` writes, `c COMMAND...` runs. Only saves where `saving` is 1.
w() {
    if [ "$saving" = 1 ]; then save "$1"; else set_to "$1" "$2"; fi
}
c() {
    [ "$saving" = 1 ] || "$@" || failed=1
}
"#;

const TAIL: &str = r#"
case "${1-}" in
"")
    if ! : >>"$saved"; then
        echo "Nothing is changed: $saved cannot be written. Run it as root." >&2
        exit 1
    fi
    saving=1
    settings
    saving=0
    settings
    echo "To undo: sh $0 --undo"
    ;;
--undo)
    if [ ! -e "$saved" ]; then
        echo "There is nothing to undo: this was not applied since the system was started."
        exit 0
    fi
    saving=0
    while read -r file value; do
        set_to "$file" "$value"
    done <"$saved"
    commands_before
    [ "$failed" = 1 ] || rm -f "$saved"
    ;;
*)
    echo "usage: $0 [--undo]" >&2
    exit 2
    ;;
esac
exit "$failed"
"#;

pub(super) fn write(choices: &Choices<'_>) -> String {
    if !choices.settings.iter().any(|c| c.recipe.as_ref().is_ok_and(can)) {
        return nothing(choices);
    }
    let mut out = String::from("#!/bin/sh\n");
    let how = [
        "Apply: sudo sh FILE. Each file's value is saved in /run first.",
        "Undo: sudo sh FILE --undo, which puts the saved values back, or restart; nothing here outlives that.",
    ];
    head(&mut out, choices, &how);
    out.push_str(HEAD);
    out.push_str("\nsettings() {\n    :\n");
    for choice in &choices.settings {
        setting(&mut out, choice);
        let Ok(recipe) = &choice.recipe else { continue };
        match (statement(recipe), recipe) {
            (Some(statement), _) => {
                let _ = writeln!(out, "    {statement}");
            }
            (None, Recipe::LatencyLimit { us: Some(us) }) => {
                comment(&mut out, "This holds only while a program keeps a file open; as root, in the background:");
                comment(&mut out, &format!("sh -c '{}' &", hold(*us)));
            }
            (None, _) => comment(&mut out, "No limit is what is so when no program asks for one: nothing to set."),
        }
    }
    out.push_str(
        "}\n\n# What was set by a command, as the experiment found it; files are put back as they were saved.\n",
    );
    out.push_str("commands_before() {\n    :\n");
    for choice in &choices.settings {
        match undo(choice) {
            Undo::Saved => {}
            Undo::Command(statement) => {
                let _ = writeln!(out, "    {statement}");
            }
            Undo::Unknown(why) => comment(&mut out, &format!("{}: {why}", choice.id)),
        }
    }
    out.push_str("}\n");
    out.push_str(TAIL);
    tail(&mut out, choices);
    out
}
