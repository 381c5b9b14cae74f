//! Sentences about settings.

use super::place;
use crate::format;
use protocol::knob::{Knob, Lifetime, Origin, Outcome, Verdict};

/// How many settings are changed; none if none is.
pub(crate) fn changed(n: u32) -> Option<String> {
    match n {
        0 => None,
        1 => Some("1 setting is changed by Brakecheck".into()),
        n => Some(format!("{n} settings are changed by Brakecheck")),
    }
}

/// How long a setting of ours stays; nothing for what is said once for all: while Brakecheck runs.
fn lifetime(lifetime: Lifetime) -> String {
    match lifetime {
        Lifetime::Session => String::new(),
        Lifetime::Kept => "; kept until it is put back or the host reboots".into(),
        Lifetime::For { seconds } => format!("; for {}", format::about(f64::from(seconds))),
        Lifetime::Unconfirmed => "; on trial".into(),
        Lifetime::Experiment { .. } => "; for the experiment".into(),
    }
}

/// Where a knob's value came from; nothing where it cannot be any other.
pub(crate) fn provenance(knob: &Knob) -> String {
    let was = knob.original.as_deref().map(|o| format!(", was {o}")).unwrap_or_default();
    let found = knob.original.as_deref().map(|o| format!(", found as {o}")).unwrap_or_default();
    match (knob.origin, knob.lifetime) {
        (Origin::Found, _) => {
            if knob.writable {
                "as found".into()
            } else {
                String::new()
            }
        }
        (Origin::Ours, l) => format!("set by Brakecheck{was}{}", l.map(lifetime).unwrap_or_default()),
        (Origin::Foreign, _) => format!("changed by somebody else{found}"),
    }
}

/// What somebody else did to a knob that Brakecheck had set to `ours`.
pub(crate) fn foreign(knob: &Knob, ours: Option<&str>) -> String {
    let title = place(&knob.id).map_or_else(|| knob.title.clone(), |place| format!("{} {place}", knob.title));
    let now = knob.value.as_deref().map_or_else(|| "cannot be read any more".into(), |now| format!("is {now} now"));
    let ours = ours.map(|ours| format!(" to {ours}")).unwrap_or_default();
    format!("{title} {now}: somebody else changed it after Brakecheck had set it{ours}.")
}

/// What became of a profile.
pub(crate) fn summary(outcomes: &[Outcome]) -> String {
    let count = |wanted: fn(Verdict) -> bool| outcomes.iter().filter(|o| wanted(o.verdict)).count();
    let applied = count(|v| v == Verdict::Applied);
    let unchanged = count(|v| v == Verdict::Unchanged);
    let undone = count(|v| !v.is_done());
    let mut parts = vec![format!("{applied} set and read back")];
    if unchanged > 0 {
        parts.push(format!("{unchanged} so already"));
    }
    if undone > 0 {
        parts.push(format!("{undone} not done, as told beside each"));
    }
    parts.join(" \u{b7} ")
}

#[cfg(test)]
mod tests {
    use super::super::fixture::knob;
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(changed(0), None);
        assert_eq!(changed(1).unwrap(), "1 setting is changed by Brakecheck");
        assert_eq!(changed(3).unwrap(), "3 settings are changed by Brakecheck");
    }

    #[test]
    fn a_value_says_whose_doing_it_is() {
        let found = Knob { writable: true, ..knob("cpu.turbo", "off", &[]) };
        let set = |origin, lifetime| Knob { origin, lifetime, original: Some("on".into()), ..found.clone() };
        assert_eq!(provenance(&found), "as found");
        assert_eq!(provenance(&knob("cpu.idle-driver", "none", &[])), "");
        let ours = set(Origin::Ours, Some(Lifetime::For { seconds: 600 }));
        assert_eq!(provenance(&ours), "set by Brakecheck, was on; for 10\u{a0}min");
        assert_eq!(provenance(&set(Origin::Foreign, None)), "changed by somebody else, found as on");
    }

    #[test]
    fn somebody_elses_change_is_told_with_both_values() {
        let knob = Knob { title: "Link power".into(), ..knob("sata.link-power@host0", "min_power", &[]) };
        let told = "Link power host0 is min_power now: somebody else changed it after Brakecheck had set it to medium.";
        assert_eq!(foreign(&knob, Some("medium")), told);
        let gone = Knob { value: None, ..knob };
        assert!(foreign(&gone, None).contains("cannot be read any more: somebody else changed it after"));
    }

    #[test]
    fn a_summary_names_what_is_not_zero() {
        let outcome = |verdict| Outcome { id: "a".into(), wanted: "on".into(), value: None, verdict, message: None };
        let all =
            [Verdict::Applied, Verdict::Applied, Verdict::Unchanged, Verdict::Clamped, Verdict::Failed].map(outcome);
        assert_eq!(summary(&all), "2 set and read back \u{b7} 1 so already \u{b7} 2 not done, as told beside each");
        assert_eq!(summary(&[]), "0 set and read back");
    }
}
