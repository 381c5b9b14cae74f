//! Sets, errors, kernels that do something else than asked, and kills, in any order: in the end all is as it was.

use crate::ERRNOS;
use crate::machine::{Machine, controls};
use crate::tree::{Access, Answer};
use power::keeper::Scope;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use protocol::knob::{Assignment, Lifetime};

#[derive(Debug, Clone)]
enum Step {
    /// Some knobs to their found value or the other one.
    Set {
        knobs: Vec<(prop::sample::Index, bool)>,
        lifetime: Lifetime,
    },
    /// From now on this share of accesses ends otherwise, by these dice.
    Trouble {
        percent: u64,
        dice: u64,
    },
    Calm,
    Restore(Scope),
    Confirm,
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    let lifetimes = vec![Lifetime::Session, Lifetime::Kept, Lifetime::For { seconds: 0 }, Lifetime::Unconfirmed];
    let knobs = prop::collection::vec(any::<(prop::sample::Index, bool)>(), 1..6);
    let set = (knobs, prop::sample::select(lifetimes));
    let scope = prop::sample::select(vec![Scope::All, Scope::Session, Scope::Expired, Scope::Unconfirmed]);
    prop_oneof![
        5 => set.prop_map(|(knobs, lifetime)| Step::Set { knobs, lifetime }),
        3 => (5..60u64, any::<u64>()).prop_map(|(percent, dice)| Step::Trouble { percent, dice }),
        1 => Just(Step::Calm),
        2 => scope.prop_map(Step::Restore),
        1 => Just(Step::Confirm),
        2 => Just(Step::Kill),
    ]
}

/// Numbers without pattern from a number (splitmix64).
fn roll(dice: &mut u64) -> u64 {
    *dice = dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*dice ^ (*dice >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn trouble(machine: &Machine, percent: u64, mut dice: u64) {
    machine.tree.answer(move |path, access, _| {
        // What tells whose journal it is cannot fail in a kernel.
        if path.starts_with("/proc/sys/kernel/random") || roll(&mut dice) % 100 >= percent {
            return Answer::Pass;
        }
        match (access, roll(&mut dice) % 12) {
            (Access::Write, 8 | 9) => Answer::Ignore,
            (Access::Write, 10 | 11) => Answer::Store("7777\n"),
            (_, other) => Answer::Fail(ERRNOS[usize::try_from(other % 8).unwrap_or(0)].0.raw_os_error()),
        }
    });
}

#[test]
fn in_any_order_of_sets_errors_and_kills_all_ends_as_it_was() {
    let Some(machine) = Machine::new() else { return };
    let found = machine.tree.files();
    let all = controls(&machine.settings);
    let config = Config { cases: 150, failure_persistence: None, ..Config::default() };
    let steps = prop::collection::vec(step(), 1..12);
    let outcome = TestRunner::new(config).run(&steps, |steps| {
        // A case that failed must not fail the next one.
        machine.tree.replace(found.clone());
        let _ = std::fs::remove_dir_all(machine.journal_dir());
        let mut keeper = machine.keeper();
        for step in &steps {
            match step {
                Step::Set { knobs, lifetime } => {
                    let wish = |(index, other): &(prop::sample::Index, bool)| {
                        let control = index.get(&all);
                        let value = control.choices[usize::from(*other)].value.clone();
                        Assignment { id: control.id.clone(), value }
                    };
                    let wishes: Vec<_> = knobs.iter().map(wish).collect();
                    let outcomes = keeper.set_among(&all, &wishes, *lifetime, true).expect("a journal");
                    prop_assert_eq!(outcomes.len(), wishes.len());
                }
                Step::Trouble { percent, dice } => trouble(&machine, *percent, *dice),
                Step::Calm => machine.tree.calm(),
                Step::Restore(scope) => drop(keeper.restore(*scope, false)),
                Step::Confirm => drop(keeper.confirm().expect("a journal")),
                Step::Kill => {
                    drop(keeper);
                    keeper = machine.keeper();
                }
            }
        }
        drop(keeper);
        machine.tree.calm();
        let report = machine.keeper().restore(Scope::All, false);
        prop_assert!(report.is_complete(), "{:#?}", report);
        machine.assert_as_found(&found, "after all");
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
