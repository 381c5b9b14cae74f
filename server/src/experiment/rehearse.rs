//! Each configuration once, before anything is measured: which of them does the kernel take?

use super::hand::Hand;
use engine::Control;
use lab::design::Plan;
use protocol::error::ErrorBody;
use protocol::experiment::Configuration;
use protocol::knob::{Knob, Outcome};
use std::time::Duration;

/// Time that what was set stays at least, if nothing follows.
const STAYS: Duration = Duration::from_mins(1);

/// The configurations that cannot be had, each with the reason.
pub(super) fn impossible(hand: &mut Hand, plan: &Plan, control: &Control) -> Result<Vec<(usize, String)>, ErrorBody> {
    let mut out = Vec::new();
    for (index, configuration) in plan.configurations.iter().enumerate() {
        if control.is_stopped() {
            break;
        }
        if let Some(reason) = bring(hand, configuration, STAYS)? {
            out.push((index, reason));
        }
    }
    Ok(out)
}

/// Brings the host to a configuration; why not all of it is in force, if so.
pub(super) fn bring(hand: &mut Hand, to: &Configuration, stays: Duration) -> Result<Option<String>, ErrorBody> {
    if to.set.is_empty() {
        return Ok(None);
    }
    let outcomes = hand.set(&to.set, stays)?;
    if let Some(failed) = outcomes.iter().find(|o| !o.verdict.is_done()) {
        return Ok(Some(refused(failed)));
    }
    // One knob's files may be another one's too.
    Ok(differing(&hand.list()?.knobs, to))
}

fn refused(o: &Outcome) -> String {
    let why = o.message.clone().unwrap_or_else(|| format!("it is {}", o.value.as_deref().unwrap_or("unknown")));
    format!("{} cannot be {}: {why}", o.id, o.wanted)
}

/// The first knob that is not as the configuration wants it, in words.
pub(super) fn differing(knobs: &[Knob], wanted: &Configuration) -> Option<String> {
    wanted.set.iter().find_map(|a| {
        let now = knobs.iter().find(|k| k.id == a.id).and_then(|k| k.value.as_deref());
        (now != Some(&a.value)).then(|| format!("{} is {}, not {}", a.id, now.unwrap_or("unknown"), a.value))
    })
}
