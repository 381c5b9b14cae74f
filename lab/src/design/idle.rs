//! Two knobs for one file: C1E is one of the idle states, so its own knob and the depth of idle states both write it.
//!
//! They cannot be set whatever the other is: down to C1 leaves C1E out, and whatever is deeper comes with it. Where one
//! configuration names both, one of them therefore follows the other; and where each is to be tried by itself, one is.

use super::factor::Factor;
use protocol::experiment::Unmapped;
use protocol::knob::{Assignment, Knob};

/// C1E by itself.
pub(super) const C1E: &str = "cpu.c1e";
/// The deepest idle state that is allowed. Of the two it is the one that is tried.
pub(super) const DEPTH: &str = "cpu.deep-idle";

/// Leaves C1E out where the depth of idle states is to be tried too, and says so.
pub(super) fn apart(factors: &mut Vec<Factor>) -> Option<Unmapped> {
    if !factors.iter().any(|f| f.id == DEPTH) {
        return None;
    }
    let before = factors.len();
    factors.retain(|f| f.id != C1E);
    (factors.len() < before).then(|| Unmapped {
        setting: C1E.into(),
        reason: format!(
            "it and {DEPTH} write the same files, so one cannot be set whatever the other is. To try it, name it without \
             {DEPTH}, or climb a ladder whose rungs set {DEPTH} to C1E and then to C1"
        ),
    })
}

/// How deep a value of the depth lets the CPU sleep; `None` if it is none of its values.
fn depth(knob: &Knob, value: &str) -> Option<usize> {
    // Spinning is listed last and sleeps least.
    if value == "POLL" { Some(0) } else { knob.values.iter().position(|v| v == value).map(|at| at + 1) }
}

/// Brings the two in line where a configuration has both: what was set last stays, the other follows. Why that cannot
/// be, if so.
pub(super) fn agree(set: &mut [Assignment], last: &str, knobs: &[Knob]) -> Result<(), String> {
    let value = |id: &str| set.iter().find(|a| a.id == id).map(|a| a.value.clone());
    let (Some(c1e), Some(deep), Some(knob)) = (value(C1E), value(DEPTH), knobs.iter().find(|k| k.id == DEPTH)) else {
        return Ok(());
    };
    let state = knob.values.iter().find(|v| v.split('_').next() == Some("C1E"));
    let Some((state, at, now)) = state.and_then(|s| Some((s, depth(knob, s)?, depth(knob, &deep)?))) else {
        return Ok(());
    };
    let (id, value) = match (c1e == "on", now >= at) {
        (true, true) | (false, false) => return Ok(()),
        (_, with) if last == DEPTH => (C1E, if with { "on" } else { "off" }.to_owned()),
        (true, false) => (DEPTH, state.clone()),
        (false, true) => {
            let next = knob.values.iter().find(|v| now == at && depth(knob, v) == Some(at - 1));
            let why = || {
                format!(
                    "{C1E} cannot be {c1e} with {DEPTH} at {deep}: both write the same files, and deeper idle states \
                     come with C1E. Set {DEPTH} to a lighter one before, or leave it out"
                )
            };
            (DEPTH, next.ok_or_else(why)?.clone())
        }
    };
    if let Some(follows) = set.iter_mut().find(|a| a.id == id) {
        follows.value = value;
    }
    Ok(())
}

/// Of a step that changes both, the one that it is about: C1E where the depth moves no further than past it.
pub(super) fn leading<'a>(
    changed: Vec<(&'a Assignment, &'a Assignment)>,
    knobs: &[Knob],
) -> Vec<(&'a Assignment, &'a Assignment)> {
    let step = changed.iter().find(|(a, _)| a.id == DEPTH);
    let (Some((a, b)), true) = (step, changed.iter().any(|(a, _)| a.id == C1E)) else { return changed };
    let deep = |value: &str| depth(knobs.iter().find(|k| k.id == DEPTH)?, value);
    let near = deep(&a.value).zip(deep(&b.value)).is_some_and(|(a, b)| a.abs_diff(b) == 1);
    let follows = if near { DEPTH } else { C1E };
    changed.into_iter().filter(|(a, _)| a.id != follows).collect()
}
