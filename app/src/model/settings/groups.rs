//! Knobs in the order of the path, and what a profile would change.

use protocol::knob::{Group, Knob};
use protocol::power::Profile;

/// The kind of a knob: its id without the instance.
pub(crate) fn kind(id: &str) -> &str {
    id.split_once('@').map_or(id, |(kind, _)| kind)
}

/// The instance a knob belongs to: `nvme0`, `0000:01:00.0`.
pub(crate) fn place(id: &str) -> Option<&str> {
    id.split_once('@').map(|(_, place)| place)
}

/// The ids of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sorted {
    /// Which.
    pub(crate) group: Group,
    /// Knobs there are.
    pub(crate) present: Vec<String>,
    /// Title and reason of those there are not.
    pub(crate) absent: Vec<(String, String)>,
}

/// All groups that have a knob.
pub(crate) fn sorted(knobs: &[Knob]) -> Vec<Sorted> {
    let one = |group: Group| {
        let of = || knobs.iter().filter(move |k| k.group.unwrap_or(Group::Platform) == group);
        let absent = of().filter(|k| !k.present()).map(|k| {
            let title = place(&k.id).map_or_else(|| k.title.clone(), |place| format!("{} {place}", k.title));
            (title, k.reason.clone().unwrap_or_else(|| "not offered by this kernel".into()))
        });
        Sorted {
            group,
            present: of().filter(|k| k.present()).map(|k| k.id.clone()).collect(),
            absent: absent.collect(),
        }
    };
    Group::ALL.map(one).into_iter().filter(|s| !s.present.is_empty() || !s.absent.is_empty()).collect()
}

/// What a profile finds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Knobs that it would change.
    pub(crate) to_change: usize,
    /// Knobs that have its value already.
    pub(crate) there: usize,
}

/// How far the host is from a profile.
pub(crate) fn counts(profile: Profile, knobs: &[Knob]) -> Counts {
    let mut counts = Counts::default();
    for knob in knobs {
        match profile.value_of(knob) {
            Some(value) if knob.value.as_deref() == Some(value) => counts.there += 1,
            Some(_) => counts.to_change += 1,
            None => {}
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::fixture::knob;
    use super::*;

    #[test]
    fn groups_follow_the_path_and_what_is_absent_has_a_reason() {
        let queue = Knob { group: Some(Group::Queue), ..knob("block.wbt@sda", "on", &["on"]) };
        let cpu = Knob { group: Some(Group::Cpu), ..knob("cpu.turbo", "on", &["on"]) };
        let none = Knob {
            id: "nvme.apst@nvme0".into(),
            title: "APST".into(),
            group: Some(Group::Cpu),
            reason: Some("no NVMe drive here".into()),
            ..Knob::default()
        };
        let groups = sorted(&[queue, none, cpu]);
        let ids: Vec<_> = groups.iter().map(|g| (g.group, g.present.join(" "))).collect();
        assert_eq!(ids, [(Group::Cpu, "cpu.turbo".into()), (Group::Queue, "block.wbt@sda".into())]);
        assert_eq!(groups[0].absent, [("APST nvme0".into(), "no NVMe drive here".into())]);
    }

    #[test]
    fn a_profile_counts_what_it_would_change() {
        let with = |id: &str, value: &str| Knob {
            writable: true,
            saving_value: Some("on".into()),
            ..knob(id, value, &["on", "off"])
        };
        let risky = Knob { risk: Some("may vanish".into()), ..with("c", "off") };
        let knobs = [with("a", "on"), with("b", "off"), risky];
        assert_eq!(counts(Profile::Saving, &knobs), Counts { to_change: 1, there: 1 });
        assert_eq!(counts(Profile::Performance, &knobs), Counts::default());
    }
}
