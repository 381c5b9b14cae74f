//! Checks on the same machine: screening and confirmation.

use super::{Machine, Trouble, share};
use lab::analysis::Analysis;
use lab::design::{Host, Plan, block, plan};
use lab::words::Titles;
use protocol::experiment::{Design, Effect, ExperimentSpec, Metric, Stage, Trial};
use protocol::knob::Knob;
use std::collections::BTreeMap;

/// The workload of the trials; named, as all are alike to a machine of this kind.
const WORKLOAD: &str = "4k-qd1";

/// A check of one workload.
pub(crate) fn check_spec(seed: u64) -> ExperimentSpec {
    let workloads = vec![protocol::experiment::WorkloadChoice::Named(WORKLOAD.into())];
    ExperimentSpec { workloads, seed: Some(seed), ..ExperimentSpec::new(Design::Check, "/") }
}

/// Its plan on a machine of so many knobs.
pub(crate) fn check_plan(spec: &ExperimentSpec, knobs: &[Knob]) -> Plan {
    plan(spec, Host { knobs, waits: &[] }).expect("knobs with two values can be planned")
}

/// How a check ended.
pub(crate) struct Checked {
    /// Its effects.
    pub(crate) effects: Vec<Effect>,
    /// All trials.
    pub(crate) trials: Vec<Trial>,
    /// Blocks of the screening.
    pub(crate) screened: u32,
    /// Blocks in all.
    pub(crate) blocks: u32,
}

/// Runs a check whose knobs cost these shares; goes on after the trials of `before`, which came of the same call.
pub(crate) fn check(
    spec: &ExperimentSpec,
    knobs: &[Knob],
    (trouble, noise): (Trouble, f64),
    costs: &[f64],
    before: &[Trial],
    mut look: impl FnMut(&[Effect]),
) -> Checked {
    let plan = check_plan(spec, knobs);
    let (seed, most) = (spec.seed.unwrap_or_default(), spec.max_blocks);
    let mut analysis = Analysis::new(spec, &plan, Titles::default());
    let mut machine = Machine::new(trouble, seed ^ 0x5151, plan.configurations.len() * most as usize);
    let mut done = Checked { effects: vec![], trials: vec![], screened: 0, blocks: 0 };
    for number in 0..most {
        let open = analysis.open();
        if open.is_empty() {
            break;
        }
        done.screened += u32::from(analysis.stage() == Some(Stage::Screening));
        done.blocks += 1;
        for slot in block(&plan, seed, number, &open) {
            let rate = machine.trial(share(&plan, costs, slot.configuration), noise);
            let number_of = u32::try_from(done.trials.len()).unwrap_or(u32::MAX);
            let new = Trial {
                number: number_of,
                block: number,
                configuration: u32::try_from(slot.configuration).unwrap_or(u32::MAX),
                workload: WORKLOAD.into(),
                metrics: BTreeMap::from([(Metric::Iops, rate)]),
                latency: vec![],
                started_at: String::new(),
                void: None,
            };
            let stored = before.get(done.trials.len()).cloned();
            done.trials.push(stored.unwrap_or(new));
        }
        done.trials.iter().filter(|t| t.block == number).for_each(|t| analysis.add(t));
        look(&analysis.effects());
    }
    done.effects = analysis.effects();
    done
}
