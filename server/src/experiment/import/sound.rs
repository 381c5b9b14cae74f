//! Whether an experiment of elsewhere could have been run by this program: its plan must follow from its knobs.

use super::read::usage;
use crate::experiment::plan_of;
use protocol::error::ErrorBody;
use protocol::experiment::{Design, ExperimentRecord};
use std::collections::BTreeSet;

/// Most knobs of a host.
const MOST_KNOBS: usize = 4096;
/// Most configurations that a kernel did not take.
const MOST_IMPOSSIBLE: usize = 4096;
/// Most memory that a plan may take, in bytes.
const LARGEST_PLAN: usize = 256 << 20;

/// Everything but the trials.
pub(super) fn check(record: &ExperimentRecord, finished_at: Option<&str>) -> Result<(), ErrorBody> {
    if !is_id(&record.id) {
        return Err(refused("experiment.id is none that this program gives"));
    }
    let times = [("experiment.started_at", Some(record.started_at.as_str())), ("finished_at", finished_at)];
    for (key, time) in times.into_iter().filter_map(|(key, time)| Some((key, time?))) {
        check_time(key, time).map_err(|why| refused(&why))?;
    }
    if record.sweep.iter().any(|p| !(p.latency_ns.is_finite() && p.latency_ns > 0.0)) {
        return Err(refused("experiment.sweep has a latency that is not above 0"));
    }
    record.spec.validate().map_err(|e| refused(&format!("experiment.spec: {e}")))?;
    knobs(record).map_err(|why| refused(&why))?;
    let plan = plan_of(record).map_err(|e| {
        refused(e.message.trim_end_matches('.')).hint("It was changed, or written by a version that plans otherwise.")
    })?;
    if plan.contrasts.is_empty() { Err(refused("there is nothing to compare")) } else { Ok(()) }
}

/// What is wrong with the file's content.
pub(super) fn refused(why: &str) -> ErrorBody {
    usage(format!("The experiment in the file is not sound: {why}."))
}

/// Time to the millisecond, hyphen, four hexadecimal digits.
fn is_id(id: &str) -> bool {
    let digits = |part: &str, n: usize| part.len() == n && part.bytes().all(|b| b.is_ascii_digit());
    let hex = |part: &str| part.len() == 4 && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    match id.split('-').collect::<Vec<_>>().as_slice() {
        [day, time, ms, random] => digits(day, 8) && digits(time, 6) && digits(ms, 3) && hex(random),
        _ => false,
    }
}

/// A time in RFC 3339.
pub(super) fn check_time(key: &str, text: &str) -> Result<(), String> {
    match text.parse::<jiff::Timestamp>() {
        Ok(_) => Ok(()),
        Err(e) => Err(format!("{key} is no time: {e}")),
    }
}

/// Few enough that planning with them takes neither long nor much memory.
fn knobs(record: &ExperimentRecord) -> Result<(), String> {
    if record.knobs.len() > MOST_KNOBS {
        return Err(format!("experiment.knobs has {} entries; at most {MOST_KNOBS} are read", record.knobs.len()));
    }
    if record.impossible.len() > MOST_IMPOSSIBLE {
        return Err(format!("experiment.impossible has more than {MOST_IMPOSSIBLE} entries"));
    }
    let mut ids = BTreeSet::new();
    if let Some(twice) = record.knobs.iter().find(|k| !ids.insert(k.id.as_str())) {
        return Err(format!("experiment.knobs: `{}` stands there twice", twice.id));
    }
    // At most a configuration for each value, and two for each knob, each of which gives a value to every knob.
    let named = |id: &String| record.spec.knobs.is_empty() || record.spec.knobs.contains(id);
    let usable = || record.knobs.iter().filter(|k| k.writable && named(&k.id));
    let (count, values) = (usable().count(), usable().map(|k| k.values.len()).sum::<usize>());
    let longest = usable().flat_map(|k| k.values.iter().chain(&k.saving_value).chain(&k.performance_value));
    let longest = longest.chain(usable().map(|k| &k.id)).map(String::len).max().unwrap_or(0);
    let each = 2 * (longest + size_of::<String>());
    let plan = count.saturating_mul(values + 2 * count + 2).saturating_mul(each);
    if plan > LARGEST_PLAN && record.spec.design != Design::WaitMode {
        return Err(format!("{count} knobs with {values} values are more than this program plans with"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_that_this_program_gives() {
        assert!(is_id(&crate::runner::new_id()));
        for id in
            ["", "last", "20261130-110000-000-ABCD", "20261130-110000-000-abcd-1", "../../etc/passwd-0-0-0", "---"]
        {
            assert!(!is_id(id), "{id}");
        }
    }
}
