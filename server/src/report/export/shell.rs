//! Recipes as statements of a POSIX shell, in which `w FILE VALUE` writes and `c COMMAND...` runs.

use super::choice::Choice;
use power::recipe::Recipe;

/// The statement; `None` for what lasts only as long as a program holds it.
pub(super) fn statement(recipe: &Recipe) -> Option<String> {
    Some(match recipe {
        Recipe::Write { path, value } if path.contains('*') => format!("for f in {path}; do w \"$f\" {value}; done"),
        Recipe::Write { path, value } => format!("w {path} {value}"),
        Recipe::Beside { path, from } => {
            format!("for f in {path}; do [ ! -e \"$f\" ] || w \"$f\" \"$(cat \"${{f%/*}}/{from}\")\"; done")
        }
        Recipe::IdleDepth { deepest } => format!(
            "for c in /sys/devices/system/cpu/cpu[0-9]*/cpuidle; do [ -d \"$c\" ] || continue; d=; for s in \"$c\"/state[0-9]*; do \
             [ \"$(cat \"$s/name\")\" != \"{deepest}\" ] || d=\"${{s##*state}}\"; done; [ -n \"$d\" ] || continue; \
             for s in \"$c\"/state[0-9]*; do if [ \"${{s##*state}}\" -le \"$d\" ]; then w \"$s/disable\" 0; else \
             w \"$s/disable\" 1; fi; done; done"
        ),
        Recipe::C1e { allowed } => format!(
            "for s in /sys/devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*; do [ -e \"$s\" ] || continue; case \"$(cat \"$s/name\")\" in \
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
