//! What it costs to set and verify every knob that can be set, and to put all back: `settings_cost TREE` on a machine
//! laid out below a directory. Medians of 20 rounds.

use power::Root;
use power::control::{Control, Hints, controls};
use power::keeper::{Keeper, Scope};
use protocol::knob::{Assignment, Lifetime, Verdict};
use std::error::Error;
use std::time::{Duration, Instant};

const ROUNDS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let tree = std::env::args().nth(1).ok_or("usage: settings_cost TREE")?;
    let root = Root::new(tree)?;
    if root.is_live() {
        return Err("this changes every setting: not on the running machine".into());
    }
    let state = std::env::temp_dir().join(format!("settings-cost-{}", std::process::id()));
    let mut keeper = Keeper::open(root.clone(), &state)?;
    let (mut lists, mut sets, mut restores) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let known = controls(&root, &Hints::default());
        lists.push(start.elapsed());
        let wishes: Vec<Assignment> = known.iter().filter_map(other_value).collect();
        let start = Instant::now();
        let outcomes = keeper.set(&Hints::default(), &wishes, Lifetime::Session, true)?;
        sets.push(start.elapsed());
        let start = Instant::now();
        let report = keeper.restore(Scope::All, false);
        restores.push(start.elapsed());
        if sets.len() == ROUNDS {
            let applied = outcomes.iter().filter(|o| o.verdict == Verdict::Applied).count();
            println!("{} of {} knobs applied; {} files put back", applied, wishes.len(), report.items.len());
            for outcome in outcomes.iter().filter(|o| o.verdict != Verdict::Applied) {
                println!("{}={}: {:?} {:?}", outcome.id, outcome.wanted, outcome.verdict, outcome.message);
            }
        }
    }
    println!("list {:?}, set and verify {:?}, restore {:?}", median(lists), median(sets), median(restores));
    std::fs::remove_dir_all(state)?;
    Ok(())
}

/// A value other than the one in force.
fn other_value(control: &Control) -> Option<Assignment> {
    let can = control.reason.is_none();
    let other = control.choices.iter().find(|c| Some(&c.value) != control.value.as_ref())?;
    can.then(|| Assignment { id: control.id.clone(), value: other.value.clone() })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
