//! The lowest frequency that a policy may choose.

use super::about::control;
use super::build::{Seen, agreed, readable};
use super::frequency::no_scaling;
use super::machine::{Machine, Policy};
use crate::control::{Choice, Control, Write};
use crate::site::Site;

/// Limits of one policy in kHz.
struct Range {
    policy: u32,
    lowest: u64,
    base: Option<u64>,
    highest: u64,
}

pub(super) fn all(machine: &Machine<'_>) -> Vec<Control> {
    let file = |p: &Policy<'_>| Some((Site::FrequencyFloor { policy: p.number }, p.dir.look("scaling_min_freq")?));
    let files: Vec<Seen> = machine.policies.iter().filter_map(file).collect();
    let now = readable(&files);
    let known = |r: &Range| now.contains_key(&Site::FrequencyFloor { policy: r.policy });
    let ranges: Vec<Range> = machine.policies.iter().filter_map(range).filter(known).collect();
    let choice = |value: &str, khz: &dyn Fn(&Range) -> Option<u64>| {
        let write =
            |r: &Range| Some(Write { site: Site::FrequencyFloor { policy: r.policy }, value: khz(r)?.to_string() });
        let writes = ranges.iter().map(write).collect::<Option<Vec<_>>>()?;
        (!writes.is_empty()).then(|| Choice { value: value.into(), writes, disturbs: Vec::new() })
    };
    let mut choices: Vec<Choice> = Vec::new();
    let all =
        [choice("lowest", &|r| Some(r.lowest)), choice("base", &|r| r.base), choice("highest", &|r| Some(r.highest))];
    for choice in all.into_iter().flatten() {
        if !choices.iter().any(|c| c.writes == choice.writes) {
            choices.push(choice);
        }
    }
    let megahertz = |khz: &String| khz.parse::<u64>().map_or_else(|_| khz.clone(), |k| format!("{} MHz", k / 1000));
    let span = agreed(ranges.iter().map(|r| format!("{} to {} MHz", r.lowest / 1000, r.highest / 1000)));
    let floor = control("cpu.frequency-floor").chosen(
        machine.root,
        &files,
        choices,
        || agreed(now.values().map(megahertz)),
        &no_scaling(machine),
    );
    vec![floor.saves(&["lowest"]).performs(&["highest", "base"]).noting(span)]
}

/// The kernel refuses a floor above the ceiling that is in force, so that caps the highest one.
fn range(policy: &Policy<'_>) -> Option<Range> {
    let khz = |name: &str| policy.dir.parse::<u64>(name);
    let lowest = khz("cpuinfo_min_freq")?;
    let most = khz("cpuinfo_max_freq")?;
    let highest = khz("scaling_max_freq").map_or(most, |cap| cap.min(most)).max(lowest);
    let base = khz("base_frequency").map(|base| base.clamp(lowest, highest));
    Some(Range { policy: policy.number, lowest, base, highest })
}
