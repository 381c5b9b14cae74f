//! A shell script that says what it does, and undoes it when asked to.

use super::choice::Choices;
use super::comment::{comment, head, setting, tail};
use super::shell::{hold, statement};
use power::recipe::Recipe;
use std::fmt::Write;

const HEAD: &str = r#"
set -u
failed=0

# Writes a value to a file of the kernel, and says what it was before and is now.
w() {
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
"#;

pub(super) fn write(choices: &Choices<'_>) -> String {
    let mut out = String::from("#!/bin/sh\n");
    head(
        &mut out,
        choices,
        &["Apply: sudo sh FILE. Undo: sudo sh FILE --undo, or restart; nothing here outlives that."],
    );
    out.push_str(HEAD);
    out.push_str("\napply() {\n    :\n");
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
    out.push_str("}\n\n# The values before the experiment.\nundo() {\n    :\n");
    for choice in choices.settings.iter().rev() {
        match choice.undo.as_ref().and_then(statement) {
            Some(statement) => {
                let _ = writeln!(out, "    {statement}");
            }
            None => comment(&mut out, &format!("{}: {}", choice.id, no_undo(choice.found))),
        }
    }
    out.push_str("}\n\ncase \"${1-}\" in\n--undo) undo ;;\n\"\") apply ;;\n*)\n");
    out.push_str("    echo \"usage: $0 [--undo]\" >&2\n    exit 2\n    ;;\nesac\nexit \"$failed\"\n");
    tail(&mut out, choices);
    out
}

/// Why a value is not put back.
pub(super) fn no_undo(found: Option<&str>) -> String {
    match found {
        Some(found) => format!("it was {found}, which is no single value; restart to have it back"),
        None => "its value was not known; restart to have it back".into(),
    }
}
