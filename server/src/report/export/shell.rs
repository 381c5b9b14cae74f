//! Recipes as statements of a POSIX shell, in which `w FILE VALUE` writes and `c COMMAND...` runs.

use super::choice::Choice;
use power::recipe::Recipe;

const STATES: &str = "/sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*";
/// Whether the driver keeps the state `$s` off, whatever `disable` says: it is left alone then.
const KEPT_OFF: &str = "[ \"$(cat \"$s/default_status\" 2>/dev/null)\" = disabled ]";

/// Each CPU gets as deep as the state of this name; one of another kind that lacks it, as deep as what wakes as fast.
fn idle_depth(deepest: &str) -> String {
    format!(
        "m=; for s in {STATES}; do {KEPT_OFF} || [ \"$(cat \"$s/name\" 2>/dev/null)\" != \"{deepest}\" ] || \
         {{ l=\"$(cat \"$s/latency\")\"; [ \"${{m:--1}}\" -ge \"$l\" ] || m=\"$l\"; }}; done; \
         for c in /sys/devices/system/cpu/cpu[0-9]*/cpuidle; do [ -n \"$m\" ] && [ -d \"$c\" ] || continue; d=; n=0; \
         for s in \"$c\"/state[0-9]*; do if [ \"$(cat \"$s/name\")\" = \"{deepest}\" ]; then d=\"${{s##*state}}\"; \
         elif [ \"$(cat \"$s/latency\")\" -le \"$m\" ]; then n=\"${{s##*state}}\"; fi; done; \
         for s in \"$c\"/state[0-9]*; do {KEPT_OFF} || if [ \"${{s##*state}}\" -le \"${{d:-$n}}\" ]; then \
         w \"$s/disable\" 0; else w \"$s/disable\" 1; fi; done; done"
    )
}

/// The statement; `None` for what lasts only as long as a program holds it.
pub(super) fn statement(recipe: &Recipe) -> Option<String> {
    Some(match recipe {
        Recipe::Write { path, value } if path.contains('*') => format!("for f in {path}; do w \"$f\" {value}; done"),
        Recipe::Write { path, value } => format!("w {path} {value}"),
        Recipe::Beside { path, from } => {
            format!("for f in {path}; do [ ! -e \"$f\" ] || w \"$f\" \"$(cat \"${{f%/*}}/{from}\")\"; done")
        }
        Recipe::IdleDepth { deepest } => idle_depth(deepest),
        Recipe::C1e { allowed } => format!(
            "for s in {STATES}; do {KEPT_OFF} || case \"$(cat \"$s/name\" 2>/dev/null)\" in \
             C1E|C1E_*) w \"$s/disable\" {};; esac; done",
            u8::from(!allowed)
        ),
        Recipe::Profile { name } => format!("c powerprofilesctl set {name}"),
        Recipe::PowerState { controller, state } => {
            format!("c nvme set-feature /dev/{controller} --feature-id=2 --value={state}")
        }
        Recipe::LatencyLimit { .. } => return None,
    })
}

/// Whether there is a statement.
pub(super) fn can(recipe: &Recipe) -> bool {
    statement(recipe).is_some()
}

/// How a setting is put back.
pub(super) enum Undo {
    /// Its files were saved; or nothing was set.
    Saved,
    /// By a command, to the value that the experiment found.
    Command(String),
    /// Not at all, and why.
    Unknown(String),
}

/// How a setting is put back by what has saved its files.
pub(super) fn undo(choice: &Choice<'_>) -> Undo {
    let Ok(Recipe::Profile { .. } | Recipe::PowerState { .. }) = &choice.recipe else { return Undo::Saved };
    let why = || match choice.found {
        Some(found) => format!("it was {found}, which no command sets; restart to have it back"),
        None => "its value was not known; restart to have it back".into(),
    };
    choice.undo.as_ref().and_then(statement).map_or_else(|| Undo::Unknown(why()), Undo::Command)
}

/// Holds a limit on waking for as long as it runs. The device takes a number of ten digits in base 16
/// (kernel/power/qos.c).
pub(super) fn hold(us: u32) -> String {
    format!("exec 3>/dev/cpu_dma_latency; printf 0x{us:08x} >&3; exec sleep infinity")
}
