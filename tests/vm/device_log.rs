//! What the drives were told: `pnvme 3728.798 APST off`.

use crate::check::{By, Check, End};

/// A drive's states of one kind, of which there are several: they are told apart by how their lines begin.
pub(crate) const KINDS: [&str; 4] = ["APST", "power state", "link control", "link:"];

/// Changes that follow each other so closely are steps on the way to one state.
const STEP_S: f64 = 0.1;

/// Judges what the guest expects of the drives, in its order: each state must be found at or after the one before.
pub(crate) fn judge(log: &str, checks: &mut [Check]) {
    for kind in KINDS {
        let states = states(log, kind);
        let mut at = 0;
        for check in checks.iter_mut().filter(|c| c.by == By::Drive && c.said.starts_with(kind)) {
            let all_words =
                |state: &&str| check.said.strip_prefix(kind).is_some_and(|w| w.split(',').all(|w| state.contains(w)));
            let found = states.iter().skip(at).position(all_words);
            check.end = if found.is_some() { End::Held } else { End::Failed };
            at += found.unwrap_or(0);
            if found.is_none() {
                check.said += &[" (not said; the drive is at: ", states.get(at).unwrap_or(&"nothing"), ")"].concat();
            }
        }
    }
}

/// The states of this kind in which a drive stayed, without the kind.
fn states<'a>(log: &'a str, kind: &str) -> Vec<&'a str> {
    let line = |line: &'a str| {
        let (_, rest) = line.split_once(' ')?;
        let (time, said) = rest.split_once(' ')?;
        Some((time.parse::<f64>().ok()?, said.strip_prefix(kind)?))
    };
    let lines: Vec<(f64, &str)> = log.lines().filter_map(line).collect();
    let stays = |i: usize, time: f64| lines.get(i + 1).is_none_or(|(next, _)| next - time > STEP_S);
    lines.iter().enumerate().filter(|(i, (time, _))| stays(*i, *time)).map(|(_, (_, said))| *said).collect()
}
