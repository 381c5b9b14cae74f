//! Whatever is set, changed by others and killed in whatever order: what nobody else touched ends as it was.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
mod knobs;

use knobs::{GOVERNOR_0, GOVERNOR_1, Host, wish};
use power::keeper::{Keeper, Scope};
use proptest::prelude::*;
use protocol::knob::Lifetime;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Debug, Clone)]
enum Step {
    Set { wishes: Vec<(usize, usize)>, lifetime: Lifetime },
    Foreign { file: usize, value: usize },
    Kill { unmarked: bool },
    Restore(Scope),
    Confirm,
}

const FILES: [(&str, [&str; 2]); 5] = [
    (GOVERNOR_0, ["performance\n", "ondemand\n"]),
    (GOVERNOR_1, ["powersave\n", "ondemand\n"]),
    ("/sys/devices/system/cpu/intel_pstate/no_turbo", ["0\n", "1\n"]),
    ("/sys/block/sda/queue/scheduler", ["[none] mq-deadline\n", "none [mq-deadline]\n"]),
    ("/sys/block/sda/queue/nomerges", ["0\n", "2\n"]),
];

fn step() -> impl Strategy<Value = Step> {
    let lifetime = prop_oneof![
        Just(Lifetime::Session),
        Just(Lifetime::Kept),
        Just(Lifetime::For { seconds: 0 }),
        Just(Lifetime::Unconfirmed)
    ];
    let scope = prop_oneof![Just(Scope::Session), Just(Scope::Expired), Just(Scope::Unconfirmed), Just(Scope::All)];
    let wishes = prop::collection::vec((0..9usize, 0..3usize), 1..4);
    prop_oneof![
        4 => (wishes, lifetime).prop_map(|(wishes, lifetime)| Step::Set { wishes, lifetime }),
        1 => (0..FILES.len(), 0..2usize).prop_map(|(file, value)| Step::Foreign { file, value }),
        2 => any::<bool>().prop_map(|unmarked| Step::Kill { unmarked }),
        1 => scope.prop_map(Step::Restore),
        1 => Just(Step::Confirm),
    ]
}

/// As if it had been killed; `unmarked`: between the writes and writing down what was read back.
fn kill(host: &Host, keeper: Keeper, unmarked: bool) -> Keeper {
    drop(keeper);
    if unmarked {
        let journal = std::fs::read_to_string(host.journal()).unwrap();
        let lines: Vec<&str> = journal.lines().collect();
        let marks = lines.iter().rev().take_while(|l| l.contains(r#"{"kind":"mark""#)).count();
        std::fs::write(host.journal(), lines[..lines.len() - marks].join("\n") + "\n").unwrap();
    }
    host.keeper()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn what_nobody_else_touched_ends_as_it_was(steps in prop::collection::vec(step(), 1..16)) {
        let host = Host::new();
        let original = host.files();
        let mut keeper = host.keeper();
        let mut touched: BTreeMap<PathBuf, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Set { wishes, lifetime } => {
                    let controls = host.controls();
                    let named = |(knob, value): &(usize, usize)| {
                        let control = &controls[*knob];
                        wish(&control.id, control.choices.get(*value).map_or("x", |c| &c.value))
                    };
                    let wishes: Vec<_> = wishes.iter().map(named).collect();
                    let outcomes = keeper.set_among(&controls, &wishes, lifetime, true).unwrap();
                    prop_assert_eq!(outcomes.len(), wishes.len());
                }
                Step::Foreign { file, value } => {
                    let (path, values) = FILES[file];
                    host.write(path, values[value]);
                    touched.entry(host.path(path)).or_default().insert(values[value].into());
                }
                Step::Kill { unmarked } => keeper = kill(&host, keeper, unmarked),
                Step::Restore(scope) => prop_assert!(keeper.restore(scope, false).is_complete()),
                Step::Confirm => drop(keeper.confirm().unwrap()),
            }
        }
        let report = keeper.restore(Scope::All, false);
        prop_assert!(report.is_complete() && keeper.is_clean(), "{:?}", report);
        for (path, now) in host.files() {
            let others = touched.get(&path).is_some_and(|values| values.contains(&now));
            prop_assert!(now == original[&path] || others, "{}: {:?}", path.display(), String::from_utf8_lossy(&now));
        }
        keeper.restore(Scope::All, true);
        prop_assert!(keeper.script().is_empty());
    }
}
