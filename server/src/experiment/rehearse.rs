//! Each configuration once, before anything is measured: which of them does the kernel take?

use super::hand::Hand;
use super::unrestored;
use engine::Control;
use lab::design::Plan;
use protocol::error::ErrorBody;
use protocol::experiment::Configuration;
use protocol::knob::{Assignment, Knob, Outcome};
use std::time::Duration;

/// Time that what was set stays at least, if nothing follows.
const STAYS: Duration = Duration::from_mins(1);

/// The configurations that cannot be had, each with the reason.
pub(super) fn impossible(
    hand: &mut Hand,
    plan: &Plan,
    knobs: &[Knob],
    control: &Control,
) -> Result<Vec<(usize, String)>, ErrorBody> {
    let mut out = Vec::new();
    for (index, configuration) in plan.configurations.iter().enumerate() {
        if control.is_stopped() {
            break;
        }
        if let Some(reason) = bring(hand, configuration, knobs, STAYS)? {
            out.push((index, reason));
        }
    }
    Ok(out)
}

/// Brings the host to a configuration; why not all of it is in force, if so. `knobs` are the host's, as found.
///
/// What is no value of its knob (some CPUs at one, some at another) cannot be set. It can only be as it was found, so
/// everything is let go of first.
pub(super) fn bring(
    hand: &mut Hand,
    to: &Configuration,
    knobs: &[Knob],
    stays: Duration,
) -> Result<Option<String>, ErrorBody> {
    if to.set.is_empty() {
        return Ok(None);
    }
    let can_be_set = |a: &&Assignment| {
        let knob = knobs.iter().find(|k| k.id == a.id);
        knob.is_none_or(|k| k.values.is_empty() || k.values.contains(&a.value))
    };
    let wishes: Vec<Assignment> = to.set.iter().filter(can_be_set).cloned().collect();
    if wishes.len() < to.set.len()
        && let Some(left) = unrestored(&hand.put_back(false)?)
    {
        return Ok(Some(left.message.trim_end_matches('.').to_owned()));
    }
    let outcomes = hand.set(&wishes, stays)?;
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
